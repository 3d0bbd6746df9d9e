"""The statements that make the tables of a new SQLite store at once: what the migrations make, one after the other.

``nox -s regenerate`` writes them into ``newest.sql`` after a new migration.
"""

import sqlite3
from contextlib import closing
from typing import Final

from sqlalchemy import StaticPool, create_engine

from probes.store.write.migrate import migrate

_NAME: Final = "INSERT INTO identity (id, name) VALUES (1, lower(hex(randomblob(16))))"
_MADE: Final = """
SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid
"""


def statements() -> str:
    """The statements, each ended by a semicolon, with an empty line between them."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool))
        made = [sql.strip() for (sql,) in connection.execute(_MADE)]
        ((revision,),) = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    version = f"INSERT INTO alembic_version (version_num) VALUES ('{revision}')"  # noqa: S608 - a migration's number
    return ";\n\n".join((*made, _NAME, version)) + ";\n"
