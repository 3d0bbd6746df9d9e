"""Translates the SQL of migrations, which is written for SQLite, to the dialect of the database at hand."""

import re
from typing import Final

from alembic import op

_INSTANT: Final = re.compile(r"strftime\('%Y-%m-%dT%H:%M:%f', ([\w.]+) / 1000\.0, 'unixepoch'\) \|\| 'Z'")
_SECOND: Final = re.compile(r"strftime\('%Y-%m-%dT%H:%M:%SZ', ([\w.]+) / 1000, 'unixepoch'\)")


def spelled(sql: str) -> str:
    """The SQL as it is for SQLite; for PostgreSQL with its own words for instants as text."""
    if op.get_bind().dialect.name == "sqlite":
        return sql
    at = r"""to_char(to_timestamp(\1 / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS{}"Z"')"""
    return _SECOND.sub(at.format(""), _INSTANT.sub(at.format(".MS"), sql))
