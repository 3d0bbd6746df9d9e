"""Stores to test: a file of SQLite's, and a database of a private PostgreSQL."""

from contextlib import ExitStack

import pytest

from probes.store.write.database import PATIENT, PRAGMAS
from tests.store.cluster import NoServer, cluster
from tests.store.stores import make, url_of

DATABASES = ("sqlite", pytest.param("postgres", marks=pytest.mark.slow))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What needs the server is slow: it waits for the server to start, or for the server."""
    for one in items:
        if "postgres" in getattr(one, "fixturenames", ()):
            one.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def postgres():
    """A running PostgreSQL; what needs it is skipped where there is none."""
    with ExitStack() as held:
        try:
            yield held.enter_context(cluster())
        except NoServer as missing:
            pytest.skip(str(missing))


@pytest.fixture
def bare(postgres):
    """The URL of a PostgreSQL database that has no tables yet."""
    url = postgres.fresh()
    yield url
    postgres.drop(url)


@pytest.fixture
def database(postgres):
    """The URL of an empty store in PostgreSQL."""
    url = postgres.store()
    yield url
    postgres.drop(url)


@pytest.fixture
def quick_commits(monkeypatch):
    """Commits of SQLite, in this process, that wait for no disk: nobody needs what a test stored after a power cut."""
    for pragmas in (PRAGMAS, PATIENT):
        monkeypatch.setitem(pragmas, "synchronous", "OFF")


@pytest.fixture(params=DATABASES)
def store(request, tmp_path):
    """The URL of an empty store: of each database that can be one."""
    if request.param == "postgres":
        return request.getfixturevalue("database")
    path = tmp_path / "history.db"
    make(path)
    return url_of(path)


@pytest.fixture(params=DATABASES)
def nowhere(request, tmp_path):
    """The URL of a store that is not there yet: of each database that can be one."""
    return request.getfixturevalue("bare") if request.param == "postgres" else url_of(tmp_path / "history.db")
