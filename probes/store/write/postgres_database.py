"""Postgres database: a PostgreSQL store opened for writing, brought to the newest schema."""

from typing import Final

from sqlalchemy import Connection, Engine, StaticPool, create_engine, event

from probes.store.read.postgres import NAMESPACE, connect, revision_of
from probes.store.schema import REVISIONS
from probes.store.translate import translated
from probes.store.write.upgrade import upgrade

STUCK_S: Final = 15
"""After so long the server ends a transaction whose writer says nothing: others wait for its lock."""

_LOCK: Final = f"SELECT pg_advisory_xact_lock({NAMESPACE}, 0)"


def open_database(url: str) -> Engine:
    """The database at ``url``, as `probes.store.write.database.open_store` says."""
    with translated():
        connection = connect(url, idle_in_transaction_session_timeout=f"{STUCK_S}s")
        try:
            revision = revision_of(connection)
            connection.autocommit = False  # transactions are SQLAlchemy's from now on
            engine = create_engine(
                "postgresql+psycopg://", creator=lambda: connection, poolclass=StaticPool, use_native_hstore=False
            )
            engine.connect().close()  # the pool has the connection from now on, so that dispose() closes it
            event.listen(engine, "begin", _begin)
            if revision != REVISIONS[-1]:
                upgrade(engine)  # of two that come here at once the second waits, and finds nothing to do
        except BaseException:
            connection.close()
            raise
        return engine


def _begin(connection: Connection) -> None:
    """Take the store's lock for writing, as SQLite's BEGIN IMMEDIATE does.

    Batches are then committed in the order of their ids: a screen that follows a recorder by the last id it saw would
    else miss what another place commits late.
    """
    connection.exec_driver_sql(_LOCK)
