"""Who is first of a group, and by how much the others are behind."""

import math
import random

from probes.report.ranking import difference, groups_of
from probes.report.report import EndpointReport, Estimate, Figures, Point


def points(middle, seed, count=60, spread=0.1):
    dice = random.Random(seed)
    return tuple(Point(n, middle * dice.lognormvariate(0, spread), finished=1) for n in range(count))


def one(name, middle, seed=1, group="g"):
    whole = Figures(ttft_p50=None if middle is None else Estimate(middle))
    drawn = points(middle, seed) if middle else ()
    return EndpointReport(name, name, "local", "p", "m", group, "warm", whole=whole, points=drawn)


def test_the_fastest_is_first_and_who_has_no_figure_last():
    (group,) = groups_of([one("slow", 200.0, 2), one("none", None), one("fast", 100.0, 3)])
    assert [each.endpoint for each in group.ranked] == ["fast", "slow", "none"]
    first, slow, none = (each.difference for each in group.ranked)
    assert first is None
    assert none is None
    assert slow.is_shown
    assert slow.low < 2.0 < slow.high


def test_no_difference_is_shown_of_equals():
    assert not difference(points(100.0, 1), points(100.0, 2)).is_shown


def test_a_few_slices_have_no_interval_and_many_are_put_together():
    few = difference(points(200.0, 1, count=2), points(100.0, 2, count=2))
    assert (few.low, few.is_shown) == (None, False)
    assert difference(points(200.0, 1, count=500), points(100.0, 2, count=500)).is_shown


def test_equals_that_drift_are_seldom_called_different():
    """In at most one of ten, where half of what varies is a drift with a memory of 0.9 from slice to slice."""
    dice = random.Random(5)

    def drifting():
        level, found = 0.0, []
        for n in range(169):
            level = 0.9 * level + dice.gauss(0, 0.046)
            found.append(Point(n, 100.0 * math.exp(level + dice.gauss(0, 0.106))))
        return tuple(found)

    assert sum(difference(drifting(), drifting()).is_shown for _ in range(60)) <= 6


def test_slices_that_only_one_of_them_has_do_not_count():
    assert difference((Point(0, 100.0), Point(1)), (Point(0), Point(1, 100.0))) is None


def test_those_alone_in_their_group_are_together_in_the_last():
    found = groups_of([one("a", 100.0), one("b", 90.0, group="x"), one("c", 80.0, group="y"), one("d", 70.0)])
    assert [(group.name, [each.endpoint for each in group.ranked]) for group in found] == [
        ("g", ["d", "a"]),
        ("", ["c", "b"]),
    ]
