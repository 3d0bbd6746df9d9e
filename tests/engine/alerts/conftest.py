"""The stores that alerts are kept in."""

from tests.store.conftest import database, postgres, store

__all__ = ("database", "postgres", "store")
