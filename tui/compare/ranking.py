"""The ranking of contenders by one figure, with ties where 95 % intervals overlap; pure."""

import math
from dataclasses import dataclass

from probes.stats.quantiles import known, ratio
from tui.compare.comparison import NOTHING, Comparison, ContenderTally
from tui.compare.contender import Contender
from tui.compare.metrics import COMPARE_METRICS, CompareMetric, value_of
from tui.state.ranking import unknown_last


@dataclass(frozen=True, slots=True)
class RankedContender:
    """A contender and its place, counted by `rank_contenders`.

    ``place`` is None where the figure is not known; ``tied``: its interval overlaps a neighbour's. ``ratio`` is the
    figure over the best one, ``share`` over the largest one. ``values`` has every figure, ``best`` the names of those
    in which no contender is better and at least one is worse.
    """

    contender: Contender
    tally: ContenderTally
    values: dict[str, float | None]
    place: int | None = None
    tied: bool = False
    ratio: float | None = None
    share: float | None = None
    best: frozenset[str] = frozenset()


def rank_contenders(comparison: Comparison, rank: str) -> tuple[RankedContender, ...]:
    """The contenders in the order of a figure of `COMPARE_METRICS`, the best first, unknown ones last.

    A place counts those that are shown to be better: whose interval ends before one's own begins. Where a contender
    further down has an interval so wide that it shares a better place, none above it gets a worse one.
    """
    metric = COMPARE_METRICS[rank]
    sign = -1 if metric.more_is_better else 1
    tallies = {one: comparison.totals.get(one.slot, NOTHING) for one in comparison.contenders}
    values = {one: {name: value_of(name, one, tally) for name in COMPARE_METRICS} for one, tally in tallies.items()}
    order = sorted(
        tallies,
        key=lambda one: [unknown_last(values[one][rank], sign), unknown_last(values[one]["ttft"]), (False, one.slot)],
    )
    ranked = [one for one in order if values[one][rank] is not None]
    places = dict(zip(ranked, _places([_signed(metric, tallies[one]) for one in ranked]), strict=True))
    best = {
        name: _best({one: own[name] for one, own in values.items()}, figure) for name, figure in COMPARE_METRICS.items()
    }
    leading = values[ranked[0]][rank] if ranked else None
    largest = max(known(own[rank] for own in values.values()), default=None)
    return tuple(
        RankedContender(
            one,
            tallies[one],
            values[one],
            place=places[one][0] if one in places else None,
            tied=one in places and places[one][1],
            ratio=ratio(values[one][rank], leading) if len(ranked) > 1 else None,
            share=ratio(values[one][rank], largest) if len(ranked) > 1 else None,
            best=frozenset(name for name, those in best.items() if one in those),
        )
        for one in order
    )


def _signed(metric: CompareMetric, tally: ContenderTally) -> tuple[float, float]:
    """The interval of a figure, negated where more is better, so that less always is."""
    low, high = metric.interval(tally)
    return (-high, -low) if metric.more_is_better else (low, high)


def _places(intervals: list[tuple[float, float]]) -> list[tuple[int, bool]]:
    """The place of each, and whether it is tied with a neighbour."""

    def ahead(one: int, other: int) -> bool:
        high, low = intervals[one][1], intervals[other][0]
        return high < low and not math.isclose(high, low)  # neighbouring bins of a sketch touch

    everyone = range(len(intervals))
    places = [1 + sum(ahead(other, one) for other in everyone) for one in everyone]
    for one in reversed(everyone[:-1]):
        places[one] = min(places[one], places[one + 1])
    parted = [True, *(ahead(one, one + 1) for one in everyone[:-1]), True]
    return [(place, not (parted[one] and parted[one + 1])) for one, place in enumerate(places)]


def _best(values: dict[Contender, float | None], metric: CompareMetric) -> set[Contender]:
    """The contenders with the best value, compared as it is written; none where all known values are the same."""
    seen = {one: value for one, value in values.items() if value is not None}
    best = (max if metric.more_is_better else min)(seen.values(), default=None)
    found = {one for one, value in seen.items() if metric.write(value) == metric.write(best)}
    return found if len(found) < len(seen) else set()
