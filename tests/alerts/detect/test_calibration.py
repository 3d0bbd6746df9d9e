import random

import pytest

from probes.alerts.detect.baseline import DAY_MS, HOUR_MS, hour_of_week
from probes.alerts.detect.calibration import GROWTH, Calibration
from probes.stats.sketch import Sketch

MONDAY = 1_789_948_800_000  # 2026-09-21T00:00Z
PER_HOUR = 30


def fill(made, begin, days, value=lambda at: 100.0, spoilt=(), seed=1):
    """Days of samples with a noise of 10 %, each followed by its night; the last night's baseline."""
    dice = random.Random(seed)
    baseline = None
    for hour in range(begin, begin + days * DAY_MS, HOUR_MS):
        values = []
        for place in range(PER_HOUR):
            at = hour + place * HOUR_MS // PER_HOUR
            values.append(value(at) * dice.lognormvariate(0, 0.1))
            made.observe(at, values[-1])
        made.add_hour(hour, Sketch.of(values))
        if (hour + HOUR_MS) % DAY_MS == 0:
            baseline = made.make(hour + HOUR_MS, spoilt)
    return baseline


def test_the_week_begins_on_monday():
    assert hour_of_week(MONDAY) == 0
    assert hour_of_week(MONDAY - 1) == 167


def test_each_hour_of_the_week_has_its_own_usual_and_the_newest_week_counts_most():
    def busy(at):
        slow = hour_of_week(at) in range(32, 42)  # Tuesdays from 8 to 18
        return (150.0 if at >= MONDAY + 21 * DAY_MS else 120.0) * (1.5 if slow else 1.0)

    found = fill(Calibration("ttft_ms"), MONDAY, 28, busy)
    assert 130 < found.usual(MONDAY + 28 * DAY_MS) < 150  # the newest week is 8 of 15 parts; of equal parts 122
    assert 195 < found.usual(MONDAY + DAY_MS + 12 * HOUR_MS) < 225
    assert found.p10[20] < found.p50[20] < found.p90[20]
    assert (found.days, found.n, found.since) == (28.0, 28 * 24 * PER_HOUR, MONDAY)


def test_with_few_samples_the_hour_of_the_day_is_taken():
    night = fill(Calibration("ttft_ms"), MONDAY, 3, lambda at: 100.0 if at % DAY_MS < DAY_MS // 2 else 200.0)
    sunday = MONDAY + 6 * DAY_MS
    assert night.usual(sunday + 5 * HOUR_MS) == pytest.approx(100, rel=0.05)
    assert night.usual(sunday + 17 * HOUR_MS) == pytest.approx(200, rel=0.05)


def test_hours_of_incidents_are_not_usual():
    spoilt = {MONDAY // HOUR_MS + 24 * day + hour for day in (1, 2) for hour in range(8, 13)}
    found = fill(Calibration("ttft_ms"), MONDAY, 3, lambda at: 900.0 if at // HOUR_MS in spoilt else 100.0, spoilt)
    assert max(found.p50) < 110


def slow_hours(*starts):
    return lambda at: 200.0 if any(0 <= at - one < HOUR_MS for one in starts) else 100.0


def test_the_threshold_is_what_was_passed_in_one_stretch_at_most():
    once = fill(Calibration("ttft_ms"), MONDAY, 28, slow_hours(MONDAY + 20 * DAY_MS))
    assert once.worst < 1.25
    assert once.threshold == 1.25
    twice = fill(Calibration("ttft_ms"), MONDAY, 28, slow_hours(MONDAY + 20 * DAY_MS, MONDAY + 24 * DAY_MS))
    assert twice.worst == pytest.approx(2.0, rel=0.1)


def test_a_speed_that_halves_counts_as_a_time_that_doubles():
    def speed(at):
        return 50.0 if slow_hours(MONDAY + 20 * DAY_MS, MONDAY + 24 * DAY_MS)(at) > 100 else 100.0

    assert fill(Calibration("tokens_per_s"), MONDAY, 28, speed).worst == pytest.approx(2.0, rel=0.1)


def test_what_is_older_than_four_weeks_is_forgotten():
    made = Calibration("ttft_ms")
    assert fill(made, MONDAY, 28, slow_hours(MONDAY + 8 * DAY_MS, MONDAY + 12 * DAY_MS)).worst > 1.8
    assert fill(made, MONDAY + 28 * DAY_MS, 13).worst < 1.25


def test_an_incident_makes_the_threshold_grow_only_a_little():
    starts = (MONDAY + 20 * DAY_MS, MONDAY + 24 * DAY_MS)
    spoilt = {one // HOUR_MS + step for one in starts for step in (0, 1)}
    found = fill(Calibration("ttft_ms"), MONDAY, 28, slow_hours(*starts), spoilt)
    assert found.worst <= 1.25 * GROWTH


def test_of_few_days_the_worst_is_more_than_was_seen():
    short = fill(Calibration("ttft_ms"), MONDAY, 4)
    highest = max(short.peaks.values())
    assert highest < short.worst < 1.3 * highest


def test_a_baseline_needs_samples():
    assert Calibration("ttft_ms").make(MONDAY) is None
    assert fill(Calibration("ttft_ms"), MONDAY, 2).is_learning
    assert not fill(Calibration("ttft_ms"), MONDAY, 3).is_learning


def test_a_drift_of_hours_is_no_news_and_a_jump_is():
    def drifting(at):
        return 100.0 * (1.25 if at >= MONDAY + 27 * DAY_MS else 1.0)

    found = fill(Calibration("ttft_ms"), MONDAY, 28, drifting)
    assert max(one for hour, one in found.peaks.items() if hour * HOUR_MS >= MONDAY + 27 * DAY_MS + 12 * HOUR_MS) < 1.15
    assert found.peaks[(MONDAY + 27 * DAY_MS) // HOUR_MS] > 1.2


def test_calibration_goes_on_from_the_baseline_of_the_night_before():
    before = fill(Calibration("ttft_ms"), MONDAY, 20)
    after = Calibration("ttft_ms", before)
    assert after.baseline is before
    again = fill(after, MONDAY + 20 * DAY_MS, 1, seed=2)
    assert again.peaks.items() > before.peaks.items()
    assert again.usual(MONDAY) == pytest.approx(100, rel=0.05)


def test_an_endpoint_that_is_always_the_same_is_known_too():
    made = Calibration("tokens_per_s")
    for hour in range(MONDAY, MONDAY + 4 * DAY_MS, HOUR_MS):
        for place in range(PER_HOUR):
            made.observe(hour + place * HOUR_MS // PER_HOUR, 70.0)
        made.add_hour(hour, Sketch.of([70.0] * PER_HOUR))
        made.make(hour + HOUR_MS)
    assert made.baseline.threshold == 1.25
    assert not made.baseline.is_learning
