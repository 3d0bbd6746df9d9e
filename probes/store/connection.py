"""A store open for writing over one connection of sqlite3 or psycopg: transactions, statements and their results.

It does the same with both databases, and imports neither SQLAlchemy nor psycopg: those cost a recorder 40 MB.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Final, Literal

Dialect = Literal["sqlite", "postgresql"]
Row = tuple[Any, ...]
Values = Mapping[str, Any] | Sequence[Any]


class Result:
    """What a statement gave. The rows that are not read may wait in the database until the transaction ends."""

    __slots__ = ("_cursor",)

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor  # of sqlite3 or of psycopg, which need not be installed

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""
        return int(self._cursor.rowcount)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._cursor)

    def fetchone(self) -> Row | None:
        """The next row, None where there is none."""
        row: Row | None = self._cursor.fetchone()
        return row

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        return list(self._cursor.fetchall())

    def first(self) -> Row | None:
        """The first row, None where there is none; the others are given up."""
        row: Row | None = self._cursor.fetchone()
        self._cursor.close()  # SQLite commits nothing while a statement that writes is not at its end
        return row

    def one(self) -> Row:
        """The first row. Raises LookupError where there is none."""
        row = self.first()
        if row is None:
            raise LookupError("a statement gave no row")
        return row

    def scalar(self) -> Any:
        """The first value of the first row, None where there is no row."""
        row = self.first()
        return None if row is None else row[0]

    def scalar_one(self) -> Any:
        """The first value of the first row. Raises LookupError where there is none."""
        return self.one()[0]


class Connection:
    """A connection inside a transaction. ``driver`` is that of sqlite3 or of psycopg, for what only one of them can."""

    __slots__ = ("dialect", "driver")

    def __init__(self, driver: Any, dialect: Dialect) -> None:
        self.driver = driver
        self.dialect = dialect

    def run(self, sql: str, values: Values = ()) -> Result:
        """Run SQL that has a ``?`` or a ``:name`` for each value; a list of rows of values runs it once for each.

        Raises the driver's own errors (`probes.store.translate`).
        """
        if self.dialect == "postgresql":
            sql = _as_psycopg_has_it(sql)
        if isinstance(values, list):
            cursor = self.driver.cursor()
            cursor.executemany(sql, values)
            return Result(cursor)
        return Result(self.driver.execute(sql, values))


class Database:
    """A store open for writing. Each transaction begins with ``begin``, which takes the store's lock for writing.

    ``driver`` is a connection that begins no transaction itself (sqlite3), or every one (psycopg). All errors are the
    driver's own (`probes.store.translate`).
    """

    def __init__(self, driver: Any, dialect: Dialect, begin: str) -> None:
        self._connection = Connection(driver, dialect)
        self._begin = begin

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction that is kept if the block ends well, and undone if it, or the commit, raises."""
        connection = self._connection
        driver = connection.driver
        try:
            driver.execute(self._begin)
            yield connection
            driver.commit()
        except BaseException:
            with suppress(Exception):  # of a connection that is lost; what went wrong first is told
                driver.rollback()
            raise

    @property
    def driver(self) -> Any:
        """The connection of sqlite3 or of psycopg, for what cannot be done in a transaction."""
        return self._connection.driver

    def close(self) -> None:
        """Close the connection."""
        with suppress(sqlite3.Error):  # what is committed is kept, and nothing else was promised
            self._connection.driver.close()


_TEXTS: Final = 256
"""So many texts are kept: those of upkeep name ids and times, and none of them comes again."""

_NAMED: Final = re.compile(r"(?<![:\w]):([a-z]\w*)")


@lru_cache(_TEXTS)
def _as_psycopg_has_it(sql: str) -> str:
    return _NAMED.sub(r"%(\1)s", sql.replace("%", "%%").replace("?", "%s"))
