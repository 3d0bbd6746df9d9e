"""Shift: the ratio of two medians, and the truth is inside its interval as often as is said."""

import math
import random

import pytest

from probes.stats.median_ratio import MedianRatio, compare_medians
from probes.stats.sketch import Sketch


def drawn(rng, count, median, spread=0.5):
    return Sketch.of(rng.lognormvariate(math.log(median), spread) for _ in range(count))


@pytest.mark.parametrize(("truth", "count", "before"), [(1.0, 12, 12), (1.0, 60, 60), (1.3, 30, 200), (0.5, 250, 250)])
def test_the_interval_holds_the_truth_in_93_of_100_runs_or_more(truth, count, before):
    rng = random.Random(11)
    found = [compare_medians(drawn(rng, count, 200 * truth), drawn(rng, before, 200, 0.9)) for _ in range(100)]
    assert sum(one.low <= truth <= one.high for one in found) >= 93


def test_equal_stretches_are_hardly_ever_called_different():
    rng = random.Random(4)
    found = [compare_medians(drawn(rng, 80, 300), drawn(rng, 80, 300)) for _ in range(100)]
    assert sum(one.shown for one in found) <= 7


def test_a_real_difference_is_shown():
    rng = random.Random(5)
    found = compare_medians(drawn(rng, 500, 300), drawn(rng, 500, 200))
    assert found.ratio == pytest.approx(1.5, rel=0.1)
    assert found.shown
    assert found.low < 1.5 < found.high
    assert found.ratio == found.median / found.before


def test_what_a_sketch_cannot_tell_apart_is_not_claimed():
    found = compare_medians(Sketch.of([101.0] * 5000), Sketch.of([100.0] * 5000))
    assert not found.shown
    assert found.high / found.low < 1.05


def test_of_too_few_there_is_no_interval_and_of_nothing_no_ratio():
    few = compare_medians(Sketch.of([100.0] * 5), Sketch.of([50.0] * 500))
    assert (few.low, few.high, few.shown) == (None, None, False)
    assert few.ratio == pytest.approx(2.0, rel=0.02)
    assert compare_medians(Sketch(), Sketch.of([1.0])) is None
    assert compare_medians(Sketch.of([1.0]), Sketch()) is None


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.8, 0.99, True),
        (1.01, 1.2, True),
        (0.8, 1.0, False),
        (1.0, 1.2, False),
        (None, 0.5, False),
        (2.0, None, False),
    ],
)
def test_a_difference_is_shown_where_1_is_outside_of_the_interval(low, high, shown):
    assert MedianRatio(1.0, 1.0, low, high).shown is shown


def test_each_side_of_the_interval_has_the_far_end_of_one_and_the_near_end_of_the_other():
    narrow = Sketch.of([100.0 * 1.05**place for place in range(20)])
    wide = Sketch.of([100.0 * 1.2**place for place in range(20)])
    found = compare_medians(narrow, wide)
    assert found is not None
    assert found.ratio == pytest.approx(0.27974, abs=1e-5)
    assert (found.low, found.high) == pytest.approx((0.11982, 0.67091), abs=1e-5)


def test_too_few_of_either_leave_a_ratio_without_an_interval():
    many, few = Sketch.of([100.0] * 20), Sketch.of([1.0] * 3)
    for one, other in ((many, few), (few, many)):
        found = compare_medians(one, other)
        assert found is not None
        assert (found.low, found.high, found.shown) == (None, None, False)
