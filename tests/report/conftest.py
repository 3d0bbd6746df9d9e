"""A PostgreSQL to ask, too."""

from tests.store.conftest import database, postgres  # noqa: F401
