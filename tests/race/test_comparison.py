"""What an interval of log ratios shows: one lane is better, they are as good as equal, or nothing yet."""

import math

import pytest

from probes.race.comparison import MARGIN, _state, comparison

TENTH = math.log(MARGIN)


@pytest.mark.parametrize(
    ("interval", "pairs", "state"),
    [
        (None, 0, "not compared"),
        (None, 2, "open"),
        ((0.01, 0.5), 5, "decided"),
        ((-0.5, -0.01), 5, "decided"),
        ((0.0, 0.05), 5, "no difference"),
        ((-0.05, 0.0), 5, "no difference"),
        ((-TENTH, TENTH), 5, "no difference"),
        ((-0.2, 0.05), 5, "open"),
        ((-0.05, 0.2), 5, "open"),
    ],
)
def test_a_difference_is_ruled_out_only_where_both_ends_are_within_the_margin(interval, pairs, state):
    assert _state(interval, pairs) == state


def test_a_comparison_seen_from_the_other_lane_is_the_same_one():
    logs = [0.2, -0.1, 0.3, 0.0, 0.2]
    here, there = (comparison(each, "e2e_ms", every_heat=False) for each in (logs, [-one for one in logs]))
    assert (here.state, here.pairs, here.more_heats) == (there.state, there.pairs, there.more_heats) == ("open", 5, 12)
    assert (here.wins, here.losses) == (there.losses, there.wins) == (3, 1)
    assert here.ratio == pytest.approx(1 / there.ratio)
    assert (here.low, here.high) == pytest.approx((1 / there.high, 1 / there.low))
