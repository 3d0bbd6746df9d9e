"""Span: a stretch of time, and the fewest buckets of rollups that cover it."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from probes.stats.rollup import LENGTH_MS, TIERS, Tier, after, bucket_of

HOURS_FROM_MS: Final = 2 * LENGTH_MS["day"]
"""Longer spans begin and end at full hours: a minute more or less of them tells nothing."""


class TimeRange(NamedTuple):
    """From ``since`` until before ``until``, milliseconds since the epoch."""

    since: int
    until: int

    @property
    def length_ms(self) -> int:
        """How long it is."""
        return self.until - self.since

    def before(self) -> "TimeRange":
        """The span of the same length just before it."""
        return TimeRange(self.since - self.length_ms, self.since)


class BucketRange(NamedTuple):
    """Buckets of one tier that follow each other: those that begin from ``since`` until before ``until``."""

    tier: Tier
    since: int
    until: int


def finest(span: TimeRange, oldest: Mapping[Tier, int | None]) -> Tier:
    """The finest tier worth asking for the whole of a span; ``oldest`` says where each tier begins, None: nowhere."""
    for tier in ("minute", "hour", "day") if span.length_ms <= HOURS_FROM_MS else ("hour", "day"):
        begin, first = oldest.get(tier), oldest.get("day")
        if begin is not None and (begin <= span.since or first is None or begin <= after("day", first)):
            return tier
    return "day"


def pieces(span: TimeRange, tier: Tier) -> list[BucketRange]:
    """The fewest buckets, ``tier`` the finest of them, that cover a span, oldest first and each instant once.

    The ends are widened to full buckets of that tier.
    """
    found: list[BucketRange] = []
    for one in _buckets(TimeRange(bucket_of(tier, span.since), span.until), tier):
        if found and found[-1].tier == one.tier:
            found[-1] = BucketRange(one.tier, found[-1].since, one.until)
        else:
            found.append(one)
    return found


def _buckets(span: TimeRange, tier: Tier) -> Iterator[BucketRange]:
    """One bucket after the other, each the longest that begins there and ends within the span."""
    at = span.since
    coarser = TIERS[TIERS.index(tier) :]
    while at < span.until:
        fitting = (one for one in reversed(coarser) if bucket_of(one, at) == at and after(one, at) <= span.until)
        longest = next(fitting, tier)
        yield BucketRange(longest, at, after(longest, at))
        at = after(longest, at)
