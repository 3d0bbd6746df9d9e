"""Stores to test: a file of SQLite's, and a database of a private PostgreSQL."""

from contextlib import ExitStack

import pytest

from tests.store.cluster import NoServer, cluster


@pytest.fixture(scope="session")
def postgres():
    """A running PostgreSQL; what needs it is skipped where there is none."""
    with ExitStack() as held:
        try:
            yield held.enter_context(cluster())
        except NoServer as missing:
            pytest.skip(str(missing))


@pytest.fixture
def database(postgres):
    """The URL of a PostgreSQL database that has no tables yet."""
    url = postgres.fresh()
    yield url
    postgres.drop(url)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """The URL of a store that is not there yet: of each database that can be one."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'history.db'}"
    return request.getfixturevalue("database")
