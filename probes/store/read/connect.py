"""The source of a store's rows by its URL: SQLite or PostgreSQL, each imported only where it is meant."""

from probes.store.location import is_postgres, path_of
from probes.store.read.source import RowSource


def source_of(url: str) -> RowSource:
    """The source for a store's URL. Raises ValueError for one that names no store."""
    if is_postgres(url):
        from probes.store.read.postgres import PostgresSource  # its driver is an extra, and takes its time to import

        return PostgresSource(url)
    from probes.store.read.sqlite import SqliteSource

    return SqliteSource(path_of(url))
