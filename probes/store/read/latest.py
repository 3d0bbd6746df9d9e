"""Ends: the newest samples of endpoints within spans, found by the indexes without reading the rest of them."""
# ruff: noqa: S608 - statements are put together from names of this package; values are always parameters

from collections.abc import Mapping
from typing import Final, NamedTuple

from probes.endpoint import Lane
from probes.outcome import Outcome
from probes.sample import Sample
from probes.stats.time_range import TimeRange
from probes.store.read.reader import JOINED, NOT_OK, StoreReader
from probes.store.row import outcome_of, sample_of

_SENT: Final = "outcome NOT IN ('no_key', 'skipped', 'own_fault')"
_TOLD: Final = (
    f"{_SENT} AND outcome <> 'rate_limited' "
    "AND (outcome <> 'ok' OR (connection = asked.lane AND coalesce(CAST(trusted AS INTEGER), 1) = 1))"
)


_UNLESS_BUFFERED: Final = ", ".join(
    f"CASE WHEN coalesce(CAST(buffered AS INTEGER), 0) = 1 THEN NULL ELSE {name} END"
    for name in ("ttft_ms", "tokens_per_s")
)
"""TTFT and tokens/s, NULL of a buffered sample: they say nothing of the model then (`measured.HELD_BACK`)."""


class LatestQuestion(NamedTuple):
    """Where the newest of an endpoint's row is looked for, and the lane it is to tell of."""

    span: TimeRange
    lane: Lane


class LatestValues(NamedTuple):
    """When a sample began, how it ended, and what it measured."""

    started_at: int
    outcome: Outcome
    ttft_ms: float | None
    tokens_per_s: float | None


def newest_values(reader: StoreReader, asked: Mapping[int, LatestQuestion]) -> dict[int, LatestValues]:
    """Of each endpoint's row the newest sample of the error rate that tells of its lane.

    That is a failed one, or a trusted `ok` one made on that lane.
    """
    return _newest(reader, asked, _TOLD)


def newest_failures(reader: StoreReader, asked: Mapping[int, LatestQuestion]) -> dict[int, LatestValues]:
    """Of each endpoint's row the newest sample that was sent and did not end ok, rate-limit hits included."""
    return _newest(reader, asked, NOT_OK)


def _newest(reader: StoreReader, asked: Mapping[int, LatestQuestion], condition: str) -> dict[int, LatestValues]:
    if not asked:
        return {}
    newest = (
        "SELECT id FROM sample WHERE endpoint_id = asked.id AND started_at >= asked.since "
        f"AND started_at < asked.until AND {condition} ORDER BY started_at DESC LIMIT 1"
    )
    sql = (
        f"WITH asked(id, since, until, lane) AS (VALUES {', '.join(['(?, ?, ?, ?)'] * len(asked))}) "
        f"SELECT sample.endpoint_id, started_at, outcome, {_UNLESS_BUFFERED} "
        f"FROM (SELECT ({newest}) AS id FROM asked) AS newest CROSS JOIN sample WHERE sample.id = newest.id"
    )
    rows = reader.few(sql, [value for number, one in asked.items() for value in (number, *one.span, one.lane)])
    return {row[0]: LatestValues(row[1], outcome_of(row[2]), *row[3:]) for row in rows}


def newest_samples(
    reader: StoreReader, endpoint_id: int, span: TimeRange, limit: int, *, failed: bool = False
) -> list[Sample]:
    """The newest samples of an endpoint's row that were sent, or of them those that did not end ok; newest first."""
    sql = (
        f"SELECT {JOINED} FROM sample JOIN endpoint ON endpoint.id = sample.endpoint_id WHERE sample.endpoint_id = ? "
        f"AND started_at >= ? AND started_at < ? AND {NOT_OK if failed else _SENT} "
        "ORDER BY started_at DESC LIMIT ?"
    )
    return [sample_of(row) for row in reader.few(sql, [endpoint_id, *span, limit])]
