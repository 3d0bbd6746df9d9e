"""Ends: the newest samples of an endpoint's row within a span, found by the indexes without reading the rest of it."""
# ruff: noqa: S608 - statements are put together from names of this package; values are always parameters

from typing import Final, NamedTuple

from probes.endpoint import Lane
from probes.outcome import Outcome
from probes.sample import Sample
from probes.span import Span
from probes.store.reader import JOINED, StoreReader
from probes.store.row import outcome_of, sample_of

FAILED: Final = "outcome NOT IN ('ok', 'no_key', 'skipped')"  # word for word the condition of its index
_SENT: Final = "outcome NOT IN ('no_key', 'skipped')"
_WITHIN: Final = "endpoint_id = ? AND started_at >= ? AND started_at < ?"


class Values(NamedTuple):
    """When a sample began, how it ended, and what it measured."""

    started_at: int
    outcome: Outcome
    ttft_ms: float | None
    tokens_per_s: float | None


def newest_values(reader: StoreReader, endpoint_id: int, span: Span, lane: Lane) -> Values | None:
    """The newest sample of the error rate that tells of a lane: a failed one, or a trusted `ok` one made on it."""
    told = "(outcome <> 'ok' OR (connection = ? AND coalesce(CAST(trusted AS INTEGER), 1) = 1))"
    sql = (
        f"SELECT started_at, outcome, ttft_ms, tokens_per_s FROM sample WHERE {_WITHIN} AND {_SENT} "
        f"AND outcome <> 'rate_limited' AND {told} ORDER BY started_at DESC LIMIT 1"
    )
    rows = reader.few(sql, [endpoint_id, *span, lane])
    return Values(rows[0][0], outcome_of(rows[0][1]), *rows[0][2:]) if rows else None


def newest_failure(reader: StoreReader, endpoint_id: int, span: Span) -> tuple[int, Outcome] | None:
    """When the newest one began that was sent and did not end ok, and how it ended."""
    sql = f"SELECT started_at, outcome FROM sample WHERE {_WITHIN} AND {FAILED} ORDER BY started_at DESC LIMIT 1"
    rows = reader.few(sql, [endpoint_id, *span])
    return (rows[0][0], outcome_of(rows[0][1])) if rows else None


def newest_samples(
    reader: StoreReader, endpoint_id: int, span: Span, limit: int, *, failed: bool = False
) -> list[Sample]:
    """The newest that were sent, or of them those that did not end ok; the newest first."""
    sql = (
        f"SELECT {JOINED} FROM sample JOIN endpoint ON endpoint.id = sample.endpoint_id WHERE sample.{_WITHIN} "
        f"AND {FAILED if failed else _SENT} ORDER BY sample.started_at DESC LIMIT ?"
    )
    return [sample_of(row) for row in reader.few(sql, [endpoint_id, *span, limit])]
