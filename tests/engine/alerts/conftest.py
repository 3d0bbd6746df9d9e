"""The stores that alerts are kept in."""

import pytest

from tests.store.conftest import database, postgres, quick_commits, store

__all__ = ("database", "postgres", "quick_commits", "store")


@pytest.fixture(autouse=True)
def _quick(quick_commits):
    pass
