"""Raises StoreProblem in place of the exceptions of SQLite, psycopg and the file system."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from probes.resources import missing_resource
from probes.store.holder import StoreHeld
from probes.store.problem import StoreProblem, of_os, of_postgres, of_sqlite
from probes.text import line


@contextmanager
def translated() -> Iterator[None]:
    """Raise StoreProblem in place of any exception raised inside; StoreHeld and StoreProblem pass as they are."""
    try:
        yield
    except (StoreProblem, StoreHeld):
        raise
    except sqlite3.Error as error:
        raise of_sqlite(error) from error
    except OSError as error:
        raise of_os(error) from error
    except Exception as error:  # psycopg's too; a store that cannot be explained must still not end the engine
        raise _of_driver(error) from error


def _of_driver(cause: BaseException) -> StoreProblem:
    """The problem behind an error of psycopg, or behind any other."""
    return of_postgres(cause, cause.sqlstate) if hasattr(cause, "sqlstate") else _failed(cause)


def _failed(error: BaseException) -> StoreProblem:
    return StoreProblem("failed", missing_resource(error) or line(f"{type(error).__name__}: {error}"))
