"""The stores of tests/store, for tests of the notifier."""

from tests.store.conftest import database, postgres, store

__all__ = ["database", "postgres", "store"]
