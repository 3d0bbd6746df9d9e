"""What takes long of partitioning the samples of a PostgreSQL store, done before the migration, while others write.

Each step is whole or not at all, and is left out where it is there already: who is killed here goes on the next time.
"""

# ruff: noqa: S608 - statements are put together from names of this package and numbers

import time
from typing import Any, Final

import psycopg

from probes.store.read.postgres import NAMESPACE
from probes.store.write.partitions import month_start

_LOCK: Final = f"SELECT pg_try_advisory_lock({NAMESPACE}::bigint)"
"""Held while one prepares; it is tried, since who waits for a lock would keep the index from being finished."""

_AGAIN_S: Final = 0.2
_TO_DO: Final = "SELECT 1 FROM pg_class WHERE oid = to_regclass('sample') AND relkind = 'r'"
_INDEX: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('sample_before_pkey')"
_CHECK: Final = """
SELECT convalidated, (regexp_match(pg_get_constraintdef(oid), '< ''?(\\d+)'))[1]::bigint FROM pg_constraint
WHERE conrelid = 'sample'::regclass AND conname = 'sample_before_end'
"""
_OTHER: Final = """
CREATE TABLE sample_other (LIKE sample INCLUDING DEFAULTS INCLUDING INDEXES INCLUDING COMMENTS);
ALTER TABLE sample_other DROP CONSTRAINT sample_other_pkey;
ALTER TABLE sample_other ADD CONSTRAINT sample_other_pkey PRIMARY KEY USING INDEX sample_other_id_started_at_idx;
ALTER TABLE sample_other ADD CONSTRAINT sample_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoint (id);
ALTER TABLE sample_other INHERIT sample
"""
_STEP: Final = 1_000
"""So many samples are moved at once: nobody waits longer than that takes."""

_LEAST_AHEAD_MS: Final = 7 * 24 * 3_600_000
"""A check whose end is nearer than this is made anew: samples of the next month must not meet it."""


def prepare_partitions(connection: psycopg.Connection[tuple[Any, ...]], now_ms: int) -> None:
    """Build the key with the time, and have the server know when the samples end, while others write.

    ``connection`` is in autocommit mode. A table that is partitioned, or is not there, is left as it is.
    """
    if connection.execute(_TO_DO).fetchone() is None:
        return
    while not _first(connection, _LOCK):
        time.sleep(_AGAIN_S)
    try:
        if connection.execute(_TO_DO).fetchone() is not None:
            _build_key(connection)
            _check_end(connection, now_ms)
    finally:
        if not connection.closed:
            connection.execute(f"SELECT pg_advisory_unlock({NAMESPACE}::bigint)".encode())


def _build_key(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """The unique index of the new key; one that a kill has left unfinished goes first."""
    valid = _first(connection, _INDEX)
    if valid is False:
        connection.execute("DROP INDEX CONCURRENTLY sample_before_pkey")
    if not valid:
        before = str(_first(connection, "SHOW lock_timeout"))
        connection.execute("SET lock_timeout = 0")  # it waits for older transactions, and keeps nobody waiting
        try:
            connection.execute("CREATE UNIQUE INDEX CONCURRENTLY sample_before_pkey ON sample (id, started_at)")
        finally:
            if not connection.closed:
                connection.execute("SELECT set_config('lock_timeout', %s, false)", [before])


def _check_end(connection: psycopg.Connection[tuple[Any, ...]], now_ms: int) -> None:
    """A checked end, at the month after the next: the migration then need not look at each row.

    Samples after it, of a clock that was ahead, are in ``sample_other`` then, and new ones wait in their recorder.
    """
    row = connection.execute(_CHECK).fetchone()
    if row is not None and row[1] < now_ms + _LEAST_AHEAD_MS:
        connection.execute("ALTER TABLE sample DROP CONSTRAINT sample_before_end")
        row = None
    end = month_start(now_ms, 2) if row is None else row[1]
    _put_aside(connection, end)
    if row is None:
        connection.execute(
            f"ALTER TABLE sample ADD CONSTRAINT sample_before_end CHECK (started_at < {end}) NO INHERIT NOT VALID"
        )
        _put_aside(connection, end)  # what came meanwhile
    if row is None or not row[0]:
        connection.execute("ALTER TABLE sample VALIDATE CONSTRAINT sample_before_end")


def _put_aside(connection: psycopg.Connection[tuple[Any, ...]], end: int) -> None:
    """Move the samples from ``end`` on into ``sample_other``, a few at a time, where there are any.

    It inherits from ``sample``: who reads that sees them all the time.
    """
    ahead = connection.execute("SELECT 1 FROM ONLY sample WHERE started_at >= %s LIMIT 1", [end]).fetchone()
    there = _first(connection, "SELECT to_regclass('sample_other')") is not None
    if ahead is None and not there:
        return
    if not there:
        with connection.transaction():
            connection.execute(_OTHER)
    connection.execute("ALTER TABLE sample_other DROP CONSTRAINT IF EXISTS sample_other_start")
    _move(connection, "sample_other", "sample", f"started_at < {end}")  # an earlier preparation had another end
    _move(connection, "sample", "sample_other", f"started_at >= {end}")
    connection.execute(f"ALTER TABLE sample_other ADD CONSTRAINT sample_other_start CHECK (started_at >= {end})")


def _move(connection: psycopg.Connection[tuple[Any, ...]], source: str, target: str, which: str) -> None:
    some = f"SELECT ctid FROM ONLY {source} WHERE {which} LIMIT {_STEP} FOR UPDATE"
    moved = f"DELETE FROM ONLY {source} WHERE ctid = ANY (ARRAY({some})) RETURNING *"
    sql = f"WITH moved AS ({moved}) INSERT INTO {target} SELECT * FROM moved"
    while connection.execute(sql.encode()).rowcount:
        pass


def _first(connection: psycopg.Connection[tuple[Any, ...]], sql: str) -> Any:
    row = connection.execute(sql.encode()).fetchone()
    return None if row is None else row[0]
