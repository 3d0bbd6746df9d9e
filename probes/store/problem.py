"""StoreProblem: why a store cannot be used just now, as one state a screen can show and a sentence."""

import errno
import sqlite3
from typing import Final

from probes.frames import StoreState
from probes.text import line

_OF_SQLITE: Final[dict[int, tuple[StoreState, str]]] = {
    sqlite3.SQLITE_BUSY: ("locked", "another program holds the store locked"),
    sqlite3.SQLITE_LOCKED: ("locked", "another program holds the store locked"),
    sqlite3.SQLITE_FULL: ("full", "no space left for the store"),
    sqlite3.SQLITE_READONLY: ("read_only", "the store cannot be written to"),
    sqlite3.SQLITE_NOTADB: ("foreign", "not a database of inftop"),
}

_OF_POSTGRES: Final[dict[str, tuple[StoreState, str]]] = {
    "53100": ("full", "no space left on the database's disk"),
    "55P03": ("locked", "another program holds the database locked"),
    "25006": ("read_only", "the database takes no writing just now"),
    "42501": ("read_only", "the database gives this user no right to that"),
    "42P07": ("foreign", "the database holds tables of another program"),
}
"""By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html."""

_OF_ERRNO: Final[dict[int, tuple[StoreState, str]]] = {
    errno.ENOSPC: ("full", "no space left for the store"),
    errno.EDQUOT: ("full", "no quota left for the store"),
    errno.EROFS: ("read_only", "the store is on a read-only file system"),
    errno.EACCES: ("read_only", "no permission to write the store"),
    errno.EPERM: ("read_only", "no permission to write the store"),
}


class StoreProblem(Exception):  # noqa: N818 - a state of the store, not a fault of the program
    """The store cannot be read or written now; ``state`` is never "ok". Trying again later may succeed."""

    def __init__(self, state: StoreState, detail: str) -> None:
        super().__init__(detail)
        self.state: StoreState = state
        self.detail = detail


def of_sqlite(error: sqlite3.Error) -> StoreProblem:
    """The problem behind an error of the sqlite3 module."""
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:  # a full disk met first by the shared-memory file beside the store
        return StoreProblem("full", "no space left for the store")
    if code is not None and (known := _OF_SQLITE.get(code & 0xFF)):  # the low byte is the kind, the rest a refinement
        return StoreProblem(*known)
    return StoreProblem("failed", line(str(error)))


def of_postgres(error: BaseException, sqlstate: str | None) -> StoreProblem:
    """The problem behind an error of psycopg; no ``sqlstate`` where the server did not answer."""
    if sqlstate is not None and (known := _OF_POSTGRES.get(sqlstate)):
        return StoreProblem(*known)
    words = str(error).partition("\n")[0]
    return StoreProblem("failed", line(words.removeprefix("connection failed: ") or type(error).__name__))


def of_os(error: OSError) -> StoreProblem:
    """The problem behind an error of the file system."""
    if error.errno is not None and (known := _OF_ERRNO.get(error.errno)):
        return StoreProblem(*known)
    return StoreProblem("failed", line(error.strerror or str(error)))
