"""The interval's parts against published tables, and its coverage of a truth with heavy tails."""

import math
import random
from itertools import combinations_with_replacement, pairwise
from statistics import median

import pytest

from probes.stats.paired_confidence import (
    ALL_LOOKS,
    CALIBRATED,
    FEWEST,
    _rank_sums,
    _signed_ranks,
    _stretch,
    chance_of_error,
    more_pairs,
    paired_interval,
    student_t,
)


@pytest.mark.parametrize(
    ("freedom", "chance", "t"),
    [
        (1, 0.05, 12.7062),
        (2, 0.05, 4.3027),
        (3, 0.01, 5.8409),
        (4, 0.05, 2.7764),
        (9, 0.02, 2.8214),
        (30, 0.05, 2.0423),
    ],
)
def test_students_t_is_that_of_the_tables(freedom, chance, t):
    assert student_t(freedom, chance) == pytest.approx(t, abs=1e-4)


@pytest.mark.parametrize(("n", "critical"), [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (20, 52), (50, 434)])
def test_signed_ranks_are_those_of_wilcoxons_table(n, critical):
    assert _rank_sums(n, 0.05)[0] == critical + 1


def test_two_pairs_have_no_interval_and_three_have():
    assert paired_interval([0.7, 0.7]) is None
    assert paired_interval([0.7, 0.7, 0.7]) == pytest.approx((0.7, 0.7))


def test_the_chances_of_all_looks_add_up_to_no_more_than_they_may():
    chances = [chance_of_error(n, every_look=True) for n in range(FEWEST, 1001)]
    assert math.fsum(chances) == pytest.approx(ALL_LOOKS, rel=0.01)
    assert math.fsum(chances) < ALL_LOOKS


def test_the_chance_of_one_look_is_the_calibrated_one_and_interpolated_between():
    for pairs, chance in CALIBRATED:
        assert chance_of_error(pairs, every_look=False) == chance
    assert chance_of_error(12, every_look=False) == pytest.approx((0.0107 + 0.0093) / 2)
    assert chance_of_error(75, every_look=False) == pytest.approx((0.0175 + 0.029) / 2)
    assert chance_of_error(200, every_look=False) == CALIBRATED[-1][1]


def test_neighbours_that_are_alike_make_the_interval_wider_and_those_that_differ_do_not():
    rising, mixed = [0.1 * k for k in range(8)], [0.1 * k for k in (0, 7, 1, 6, 2, 5, 3, 4)]
    (low, high), (mixed_low, mixed_high) = paired_interval(rising), paired_interval(mixed)
    autocorrelation = 0.625  # of eight values on a line: 26.25 / 42
    assert high - low == pytest.approx((mixed_high - mixed_low) * math.sqrt(1 + 2 * autocorrelation))
    assert (low + high) / 2 == pytest.approx(0.35)


@pytest.mark.parametrize(("n", "weight"), [(8, 2.0), (16, 4.0), (40, 2 / 0.3)])
def test_the_more_pairs_there_are_the_more_counts_what_neighbours_have_in_common(n, weight):
    """Of few it is mostly luck; from 27 on it counts as in a drift of which 0.7 is left in the next pair."""
    logs = [0.1 * k for k in range(n)]
    parts = [one - 0.1 * (n - 1) / 2 for one in logs]
    alike = sum(one * other for one, other in pairwise(parts)) / sum(one * one for one in parts)
    assert _stretch(logs) == pytest.approx(math.sqrt(1 + weight * alike))
    assert _stretch([(-1.0) ** k for k in range(n)]) == 1


def test_an_interval_ends_between_two_means_where_the_chance_lies_between_two_rank_sums():
    """Of eight signs one of 256 has the rank sum 0, one of 256 the sum 1; 0.0134 / 2 is 1.715 of 256."""
    assert _rank_sums(8, 0.0134) == (1, pytest.approx(0.0134 / 2 * 256 - 1))


@pytest.mark.parametrize(
    ("logs", "more"),
    [
        ([0.5], None),
        ([0.5, 0.6], 1),
        ([0.0, 0.001, -0.001], 1),
        ([0.2, -0.1, 0.3, 0.0, 0.2], 12),
        ([0.2, -0.3, 0.3, -0.2, 0.01], 42),
        ([0.2, -0.9, 0.3, 0.9, -0.5], None),
    ],
)
def test_how_many_more_pairs_decide_is_told_from_mean_and_spread(logs, more):
    assert more_pairs(logs, math.log(1.1)) == more


@pytest.mark.parametrize("n", [3, 5, 8, 20])
def test_the_interval_holds_the_truth_19_times_in_20_and_the_median_always(n):
    dice = random.Random(n)
    held = 0
    for _ in range(400):
        logs = [0.5 + dice.gauss(0, 0.1) + (dice.choice((-1, 1)) if dice.random() < 0.2 else 0) for _ in range(n)]
        low, high = paired_interval(logs)
        held += low <= 0.5 <= high
        assert low <= sorted(logs)[(n - 1) // 2] <= high
    assert held >= 380


def test_one_stall_in_twenty_heats_hides_no_difference():
    low, high = paired_interval([0.2 + 0.001 * k for k in range(19)] + [-3.0])
    assert 0.15 < low < high < 0.25


def test_of_three_pairs_the_interval_is_students():
    """Mean 0.2333, standard deviation 0.1528, t of two degrees of freedom and a chance of 0.028: 5.8497."""
    assert paired_interval([0.1, 0.2, 0.4]) == pytest.approx((-0.28258, 0.74925), abs=1e-5)


def test_signed_ranks_are_about_the_median_of_all_means_of_two():
    """Of a skewed sample that is neither its mean nor its own median, and each end is next to the outermost mean."""
    ordered = [0.0, 1, 3, 7, 15, 31, 63, 127]
    means = sorted((one + other) / 2 for one, other in combinations_with_replacement(ordered, 2))
    part = 0.0134 / 2 * 256 - 1
    low, middle, high = _signed_ranks(ordered, 0.0134)
    assert middle == pytest.approx(median(means))
    assert low == pytest.approx(means[0] + part * (means[1] - means[0]))
    assert high == pytest.approx(means[-1] - part * (means[-1] - means[-2]))


def test_an_interval_reaches_to_the_median_where_the_signed_ranks_leave_it_out():
    """A ratio that is told beside an interval that does not hold it would be a riddle."""
    fast, slow = [0.001 * k for k in range(26)], [10 + 0.001 * k for k in range(24)]
    mixed = [one for pair in zip(fast, slow, strict=False) for one in pair] + fast[24:]
    for sign in (1, -1):
        low, high = sorted(sign * end for end in paired_interval([sign * one for one in mixed]))
        assert low == pytest.approx(0.0245)
        assert high > 5


def test_an_interval_of_many_is_wider():
    logs = [0.1, 0.2, -0.05, 0.15, 0.3, 0.12, 0.02, 0.18, 0.21, 0.07]
    alone, of_nine = paired_interval(logs), paired_interval(logs, comparisons=9)
    assert of_nine[0] < alone[0] < alone[1] < of_nine[1]
