"""Cadences: no drift, jitter that does not accumulate, endpoints spread over their interval."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from probes.engine.schedule import JITTER_CAP_S, MOST_MISSED, Cadence, CadenceTrigger, spread

START = 1_800_000_000.0


def test_a_thousand_ticks_stay_on_the_grid():
    cadence = Cadence("groq", 60.0, phase=7.0)
    at = START
    for _ in range(1000):
        at = cadence.next_after(at)
    k = round((at - cadence.phase) / 60)
    assert abs(at - (cadence.phase + k * 60)) <= JITTER_CAP_S
    assert abs(at - START - 1000 * 60) <= 60 + JITTER_CAP_S


def test_every_tick_comes_once_and_in_order():
    cadence = Cadence("x", 10.0)
    due = [cadence.next_after(START)]
    for _ in range(200):
        due.append(cadence.next_after(due[-1]))
    assert all(before < after for before, after in pairwise(due))
    assert len({round(at / 10) for at in due}) == len(due)


def test_jitter_is_bounded_moves_and_depends_on_the_name():
    one, other = Cadence("a", 60.0), Cadence("b", 60.0)
    offsets = [one.due(k) - k * 60 for k in range(500)]
    assert max(map(abs, offsets)) <= JITTER_CAP_S
    assert max(offsets) > 1 > -1 > min(offsets)
    assert offsets != [other.due(k) - k * 60 for k in range(500)]
    assert offsets == [Cadence("a", 60.0).due(k) - k * 60 for k in range(500)]


def test_a_newer_version_keeps_to_the_grid_of_the_one_before():
    """Recorders are replaced while they run: the endpoints go on being probed when they would have been."""
    assert Cadence("groq", 60.0, 7.0).due(30_000_000) == 1_800_000_007.314
    assert Cadence("groq", 2.0).due(7) == 14.072


def test_no_tick_is_passed_over_wherever_in_the_interval_the_grid_lies():
    for phase in (0.0, 20.0, 50.0, 59.9):
        cadence = Cadence("x", 60.0, phase)
        due = [cadence.next_after(START)]
        for _ in range(50):
            due.append(cadence.next_after(due[-1]))
        assert due[0] - START <= 60 + JITTER_CAP_S
        assert all(60 - 2 * JITTER_CAP_S <= later - sooner <= 60 + 2 * JITTER_CAP_S for sooner, later in pairwise(due))


@pytest.mark.parametrize("phase", [0.0, 20.0, 59.9])
def test_a_due_time_that_its_jitter_makes_late_is_still_the_next_one_when_its_place_on_the_grid_is_over(phase):
    cadence = Cadence("x", 60.0, phase)
    for k in range(30_000_000, 30_000_050):
        assert cadence.next_after(cadence.due(k) - 0.01) == cadence.due(k)


def test_short_intervals_jitter_by_a_share_of_themselves():
    assert max(abs(Cadence("a", 2.0).due(k) - k * 2) for k in range(500)) <= 0.1 + 0.001


def test_endpoints_are_spread_over_the_interval():
    phases = [one.phase for one in spread([("a", 60.0), ("b", 60.0), ("c", 60.0), ("d", 30.0)])]
    assert phases == [0.0, 15.0, 30.0, 22.5]


def test_the_trigger_skips_what_a_sleep_has_missed():
    trigger = CadenceTrigger(Cadence("a", 60.0))
    asleep = datetime.fromtimestamp(START, UTC)
    awake = asleep + timedelta(hours=8)
    first = trigger.get_next_fire_time(None, asleep)
    assert trigger.fired is None
    upcoming = trigger.get_next_fire_time(first, awake)
    assert trigger.fired == first
    assert awake < upcoming <= awake + timedelta(seconds=62)


@pytest.mark.parametrize("instant", [START, START + 0.5, START + 59.9])
def test_the_next_due_time_is_strictly_later(instant: float):
    cadence = Cadence("a", 60.0)
    assert cadence.next_after(instant) > instant
    assert cadence.next_after(cadence.next_after(instant)) > cadence.next_after(instant)


def test_a_tick_ahead_of_the_grid_is_left_room_by_it():
    for offset in range(0, 60, 7):
        trigger = CadenceTrigger(Cadence("a", 60.0))
        trigger.get_next_fire_time(None, datetime.fromtimestamp(START, UTC))
        first = datetime.fromtimestamp(START + offset, UTC)
        second = trigger.ahead(first)
        assert (trigger.fired, trigger.upcoming) == (first, second)
        assert START + offset + 30 <= second.timestamp() <= START + offset + 92


@pytest.mark.parametrize("interval", [0.1, 2.0, 3.7, 60.0])
def test_a_scheduler_that_wakes_at_the_very_microsecond_is_given_a_later_time(interval: float):
    trigger = CadenceTrigger(Cadence("a", interval, phase=interval / 7))
    due = trigger.get_next_fire_time(None, datetime.fromtimestamp(START, UTC))
    for _ in range(2000):
        later = trigger.get_next_fire_time(due, due)
        assert later > due
        due = later


def test_what_was_due_and_what_is_due_next_move_with_the_clock():
    trigger = CadenceTrigger(Cadence("a", 60.0))
    fired = trigger.get_next_fire_time(None, datetime.fromtimestamp(START, UTC))
    upcoming = trigger.get_next_fire_time(fired, fired)
    trigger.move(-10_800.0)
    assert trigger.fired == fired - timedelta(hours=3)
    assert trigger.upcoming == upcoming - timedelta(hours=3)
    moved = trigger.upcoming
    assert 30 <= (trigger.get_next_fire_time(moved, moved) - moved).total_seconds() <= 92


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(START + seconds, UTC)


def test_what_came_due_while_the_engine_was_busy_is_told_once_each():
    cadence = Cadence("a", 60.0)
    trigger = CadenceTrigger(cadence)
    assert list(trigger.missed()) == []
    first = trigger.get_next_fire_time(None, at(0))
    assert list(trigger.missed()) == [], "none has fired yet"
    trigger.get_next_fire_time(first, first)
    assert list(trigger.missed()) == []
    trigger.get_next_fire_time(first, first + timedelta(seconds=200))
    [one, two, three] = trigger.missed()
    assert one == cadence.next_after(first.timestamp())
    assert (two, three) == (cadence.next_after(one), cadence.next_after(two))
    assert three < first.timestamp() + 200 < trigger.upcoming.timestamp()


def test_of_a_recorder_that_was_stopped_for_days_the_oldest_thousand_are_told():
    trigger = CadenceTrigger(Cadence("a", 10.0))
    first = trigger.get_next_fire_time(None, at(0))
    trigger.get_next_fire_time(first, first + timedelta(days=3))
    missed = list(trigger.missed())
    assert len(missed) == MOST_MISSED == 1_000
    assert missed[0] - first.timestamp() < 12


def test_nothing_is_missed_in_the_half_interval_that_a_tick_ahead_of_the_grid_takes_the_place_of():
    for offset in range(0, 60, 7):
        trigger = CadenceTrigger(Cadence("a", 60.0))
        trigger.get_next_fire_time(None, at(0))
        trigger.ahead(at(offset))
        trigger.get_next_fire_time(at(offset), at(offset + 100))
        assert all(one >= START + offset + 30 for one in trigger.missed())
        assert len(list(trigger.missed())) in (1, 2)


def test_after_a_sleep_only_a_due_time_that_is_over_is_passed_over():
    trigger = CadenceTrigger(Cadence("a", 60.0))
    trigger.pass_over(START)
    assert trigger.upcoming is None
    trigger.move(5.0)
    assert (trigger.fired, trigger.upcoming) == (None, None)
    due = trigger.get_next_fire_time(None, at(0))
    trigger.pass_over(due.timestamp())
    assert trigger.upcoming == due
    trigger.pass_over(due.timestamp() + 300)
    assert trigger.upcoming.timestamp() == Cadence("a", 60.0).next_after(due.timestamp() + 300)
