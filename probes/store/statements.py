"""SQL text made once, and rows put in the way that is quickest with either driver.

Columns are named without `probes.store.tables`: to import SQLModel takes longer than all else of a recorder's start.
"""
# ruff: noqa: S608 - statements are put together from names of this package; values are always parameters

from collections.abc import Mapping, Sequence
from typing import Any, Final

from probes.store.connection import Connection, Result, Values
from probes.store.row import SAMPLE_COLUMNS


def inserting(table: str, names: Sequence[str]) -> str:
    """Put in rows, their values given by name."""
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def replacing(table: str, names: Sequence[str], keys: Sequence[str]) -> str:
    """Put rows in the place of those with the same ``keys``, which are the table's primary key."""
    rest = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys)
    return f"{inserting(table, names)} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {rest}"


_OF_SAMPLE: Final = ("endpoint_id", *SAMPLE_COLUMNS)
_INSERT_SAMPLE: Final = inserting("sample", _OF_SAMPLE)
_COPY_SAMPLE: Final = f"COPY sample ({', '.join(_OF_SAMPLE)}) FROM STDIN"
REPLACE_ANSWER: Final = replacing("answer", ("endpoint_id", "sample_id", "text"), ("endpoint_id",))
REPLACE_RECORDER: Final = replacing(
    "recorder", ("vantage", "pid", "host", "version", "started_at", "beat_at", "status", "run"), ("vantage", "run")
)
ARRIVE: Final = (
    "INSERT INTO arrival (source, what, last) VALUES (:name, 'batch', CAST(:number AS TEXT)) "
    "ON CONFLICT (source, what) DO UPDATE SET last = excluded.last "
    "WHERE CAST(arrival.last AS BIGINT) < CAST(excluded.last AS BIGINT)"
)
"""Note that a batch with a `sink.BatchId` comes; no row is changed where it, or a later one, came before."""
FORGET: Final = "DELETE FROM arrival WHERE source = :name AND what = 'batch'"
"""Forget the batches of that name: no more will come."""


def run(connection: Connection, sql: str, values: Values = ()) -> Result:
    """Run SQL that has a ``?`` or a ``:name`` for each value; a list of rows of values runs it once for each."""
    return connection.run(sql, values)


def insert_samples(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store rows of `probes.store.row.row_of`, in their order; their ids are consecutive."""
    if connection.dialect == "postgresql":
        cursor = connection.driver.cursor()
        with cursor, cursor.copy(_COPY_SAMPLE) as copy:
            for row in rows:
                copy.write_row([row[name] for name in _OF_SAMPLE])
    else:
        run(connection, _INSERT_SAMPLE, list(rows))


def insert_rows(connection: Connection, table: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Put in rows, whose values are in the order of these columns."""
    columns = ", ".join(names)
    if connection.dialect == "postgresql":
        cursor = connection.driver.cursor()
        with cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    else:
        sql = f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))})"
        connection.run(sql, list(map(tuple, rows)))
