"""Share interval: the values of the literature, and nothing of nothing."""

import pytest

from probes.stats.share_confidence import interval


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_it_is_wilsons(part, whole, low, high):
    assert interval(part, whole) == pytest.approx((low, high), abs=5e-5)


def test_all_is_none_the_other_way_round():
    low, high = interval(20, 20)
    assert (low, high) == pytest.approx((1 - 0.1611, 1.0), abs=5e-5)


def test_of_nothing_nothing_is_claimed():
    assert interval(0, 0) is None
