"""The forecast: only of a pace that was seen, and never of a bucket that lasts."""

import pytest

from probes.rate_limits.bucket import Bucket
from tui.state.rate_limits import empty_at

MINUTE = 60_000


def readings(*remaining, limit=1000.0, scope="day", reset_s=None, every=MINUTE):
    """Readings a minute apart, the last at 0."""
    count = len(remaining)
    return [
        ((place - count + 1) * every, Bucket("tokens", scope, None, limit, left, reset_s))
        for place, left in enumerate(remaining)
    ]


def test_what_is_left_lasts_for_as_long_as_the_pace_says():
    assert empty_at(readings(500, 400, 300)) == 3 * MINUTE
    assert empty_at(readings(500, 450, 450, 300)) == round(300 / 200 * 3 * MINUTE)


@pytest.mark.parametrize(
    "seen",
    [
        (),
        (300,),
        (400, 300),  # one probe's use is no pace
        (300, 300, 300),
        (300, 301, 302),
        (500, 400, 300, 999),  # it was filled again: nothing is known of the new run
        (500, 400, 999, 900),
        (400, 300, None),
        (200, 100, 0),  # it is empty
        (200, 100, -5),
    ],
)
def test_without_a_drop_seen_often_enough_there_is_none(seen):
    assert empty_at(readings(*seen)) is None


def test_a_run_begins_where_the_bucket_grew_or_its_limit_changed():
    assert empty_at(readings(10, 5, 500, 400, 300)) == 3 * MINUTE
    before = [(at - 9 * MINUTE, bucket) for at, bucket in readings(900, 800, limit=2000.0)]
    assert empty_at([*before, *readings(500, 400, 300)]) == 3 * MINUTE
    assert empty_at(readings(None, 500, 400, 300)) == 3 * MINUTE


def test_a_bucket_that_is_full_again_before_lasts():
    assert empty_at(readings(500, 400, 300, reset_s=179)) is None
    assert empty_at(readings(500, 400, 300, reset_s=181)) == 3 * MINUTE


def test_without_a_reset_the_window_is_one():
    assert empty_at(readings(500, 400, 300, scope="minute")) is None
    assert empty_at(readings(500, 400, 300, scope="hour dynamic")) == 3 * MINUTE
    assert empty_at(readings(500, 400, 300, scope="dynamic")) == 3 * MINUTE
    assert empty_at(readings(500, 400, 300, scope=None)) == 3 * MINUTE


def test_readings_of_one_instant_have_no_pace():
    assert empty_at(readings(500, 400, 300, every=0)) is None
