"""How an export writes an instant in a time zone: ISO 8601 with milliseconds, in Python and in SQLite."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from typing import Final

from probes.sample import iso

_DAY_MS: Final = 86_400_000


def writer(zone: tzinfo) -> Callable[[int], str]:
    """A function that writes ms since the epoch as ``2026-11-20T15:02:31.005+01:00``, or with ``Z`` in UTC."""
    if zone is UTC:
        return iso
    return lambda ms: datetime.fromtimestamp(ms / 1000, zone).isoformat(timespec="milliseconds")


def written_sql(column: str, zone: tzinfo, first_ms: int, last_ms: int) -> str:
    """The SQL that writes a column as `writer` does; its values lie from ``first_ms`` up to ``last_ms``.

    SQLite knows no time zones, so the SQL has a branch for each period in which the zone's offset from UTC is the same.
    """
    periods = list(_offsets(zone, first_ms, last_ms))
    written = [_iso_sql(column, zone, begin) for begin in periods]
    if len(periods) == 1:
        return written[0]
    ends = zip(periods[1:], written, strict=False)
    branches = " ".join(f"WHEN {column} < {end} THEN {sql}" for end, sql in ends)
    return f"CASE {branches} ELSE {written[-1]} END"


def _iso_sql(column: str, zone: tzinfo, at_ms: int) -> str:
    moved = f"({column} + {_offset_ms(zone, at_ms)})" if zone is not UTC else column
    suffix = writer(zone)(at_ms)[len("2026-11-20T14:02:31.005") :]
    return f"strftime('%Y-%m-%dT%H:%M:%f', {moved} / 1000.0, 'unixepoch') || '{suffix}'"


def _offsets(zone: tzinfo, first_ms: int, last_ms: int) -> Iterator[int]:
    """When the zone's offset from UTC changes (ms since the epoch), after ``first_ms`` itself, which comes first."""
    yield first_ms
    if zone is UTC:
        return
    for day in range(first_ms, last_ms, _DAY_MS):
        before, end = _offset_ms(zone, day), min(day + _DAY_MS, last_ms)
        if _offset_ms(zone, end) != before:
            hours = range(day, end + 1)
            yield hours[bisect_left(hours, True, key=lambda ms: _offset_ms(zone, ms) != before)]


def _offset_ms(zone: tzinfo, at_ms: int) -> int:
    offset = datetime.fromtimestamp(at_ms / 1000, zone).utcoffset()
    return round(offset.total_seconds() * 1000) if offset else 0
