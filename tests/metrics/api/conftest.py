"""The stores that the API answers from, of each database that can hold one."""

from tests.store.conftest import bare, database, nowhere, postgres, quick_commits, store  # noqa: F401
