"""Ranks the endpoints of a group by TTFT, and says by how much the others are behind the first, if at all; pure."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final

from probes.report.report import Difference, EndpointReport, Group, Point, Ranked
from probes.stats.paired_confidence import paired_interval
from probes.stats.quantiles import median

STRETCHES: Final = 16
"""Into so many stretches a report's time is put together: the fewer, the less each resembles the one before it.

`tests/bench/report_ranking.py` says how often a difference between equals is shown: in 2 to 4 of 100 where speeds drift
with a memory of 0.7 from slice to slice, in 3 to 10 with one of 0.9.
"""


def groups_of(endpoints: Sequence[EndpointReport]) -> tuple[Group, ...]:
    """The groups of two endpoints and more in the order of their first members, and the others together, named "".

    A group that is measured from several places has a ranking at each.
    """
    several = len({one.vantage for one in endpoints}) > 1
    found: dict[str, list[EndpointReport]] = {}
    for one in endpoints:
        found.setdefault(seen_from(one.group, one.vantage, several=several), []).append(one)
    alone = [one for members in found.values() if len(members) == 1 for one in members]
    groups = [_ranked(name, members) for name, members in found.items() if len(members) > 1]
    return (*groups, *([Group("", tuple(Ranked(one.name) for one in _by_ttft(alone)))] if alone else []))


def seen_from(name: str, vantage: str, *, several: bool) -> str:
    """The name of an endpoint or a group, with the place where ``several`` measure."""
    return f"{name} from {vantage}" if several else name


def _ranked(name: str, members: Sequence[EndpointReport]) -> Group:
    first, *others = _by_ttft(members)
    rest = (Ranked(one.name, difference(one.points, first.points)) for one in others)
    return Group(name, (Ranked(first.name), *rest))


def _by_ttft(members: Iterable[EndpointReport]) -> list[EndpointReport]:
    def key(one: EndpointReport) -> tuple[float, str]:
        return (math.inf if one.whole.ttft_p50 is None else one.whole.ttft_p50.value, one.name)

    return sorted(members, key=key)


def difference(points: Sequence[Point], first: Sequence[Point]) -> Difference | None:
    """How many times the other's TTFT one's is, slice by slice at the same time; None where no slice has both.

    Speeds drift, and neighbouring slices are alike: the interval is that of pairs that drift
    (`probes.stats.paired_confidence`), of at most `STRETCHES` of equal length.
    """
    each = -(-len(points) // STRETCHES)
    logs: list[float] = []
    for begin in range(0, len(points), max(each, 1)):
        pairs = zip(points[begin : begin + each], first[begin : begin + each], strict=False)
        both = [math.log(one.ttft_p50 / other.ttft_p50) for one, other in pairs if one.ttft_p50 and other.ttft_p50]
        if both:
            logs.append(fmean(both))
    middle, interval = median(logs), paired_interval(logs)
    if middle is None:
        return None
    if interval is None:
        return Difference(math.exp(middle), None, None)
    return Difference(math.exp(middle), math.exp(interval[0]), math.exp(interval[1]))
