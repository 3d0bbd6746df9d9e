"""The interval's parts against published tables, and its coverage of a truth with heavy tails."""

import math
import random

import pytest

from probes.stats.paired_confidence import (
    CHANCE,
    FEWEST,
    _bootstrap_rank,
    _rank_sums,
    _t,
    chance_of_look,
    paired_interval,
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
    assert _t(freedom, chance) == pytest.approx(t, abs=1e-4)


@pytest.mark.parametrize(("n", "critical"), [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (20, 52), (50, 434)])
def test_signed_ranks_are_those_of_wilcoxons_table(n, critical):
    assert _rank_sums(n, 0.05) == critical + 1


@pytest.mark.parametrize("n", [5, 10, 21])
def test_the_bootstrap_without_dice_is_the_one_with_dice(n):
    dice = random.Random(n)
    medians = sorted(sorted(dice.choices(range(1, n + 1), k=n))[(n - 1) // 2] for _ in range(20_000))
    assert _bootstrap_rank(n) == medians[500]


def test_two_pairs_have_no_interval_and_three_have():
    assert paired_interval([0.7, 0.7]) is None
    assert paired_interval([0.7, 0.7, 0.7]) == pytest.approx((0.7, 0.7))


def test_the_chances_of_all_looks_add_up_to_no_more_than_one_look():
    assert math.fsum(chance_of_look(n) for n in range(FEWEST, 1001)) == pytest.approx(CHANCE, rel=0.01)
    assert math.fsum(chance_of_look(n) for n in range(FEWEST, 1001)) < CHANCE


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
    """Mean 0.2333, standard deviation 0.1528, t of two degrees of freedom 6.9646."""
    assert paired_interval([0.1, 0.2, 0.4]) == pytest.approx((-0.38088, 0.84755), abs=1e-5)
