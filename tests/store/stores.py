"""Stores for tests: written in one go, and waited for."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from probes.sample import Sample
from probes.store.place import APPLICATION_ID, is_postgres, path_of
from probes.store.sink import Entry, Sink


def url_of(store: Path | str) -> str:
    """The URL of a store, of which an SQLite one is known by its path too."""
    return store if isinstance(store, str) else f"sqlite:///{store}"


def fill(store: Path | str, entries: Iterable[Sample | tuple[Sample, str]]) -> None:
    """Store samples, some with the text of their answers, in one transaction."""
    pairs = [(one, None) if isinstance(one, Sample) else one for one in entries]
    sink = Sink(url_of(store))
    sink.write([Entry(sample, answer) for sample, answer in pairs], None)
    sink.close()


def ask(store: Path | str, sql: str) -> list[tuple]:
    """The rows of a query, past all of our code."""
    with other(store) as connection:
        return connection.execute(sql).fetchall()


@contextmanager
def other(store: Path | str) -> Iterator[Any]:
    """Another program's connection to a store, in autocommit mode."""
    if isinstance(store, str) and is_postgres(store):
        connection = psycopg.connect(store, autocommit=True)
    else:
        connection = sqlite3.connect(path_of(url_of(store)), isolation_level=None, check_same_thread=False)
    with closing(connection):
        yield connection


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread brings about."""
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


def open_old(path: Path, revision: str) -> sqlite3.Connection:
    """A store as the inftop of that revision made it, open for its own plain SQL."""
    config = Config()
    config.set_main_option("script_location", "probes.store:migrations")
    path.touch()
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA journal_mode = WAL")
    return connection
