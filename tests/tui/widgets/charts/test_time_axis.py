"""Time axes: round instants of local time at every span, through changes of the clock, and labels side by side."""

import time
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from tui.time.period import LENGTHS
from tui.widgets.charts.time_axis import ENOUGH, time_rows, time_ticks

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000


@pytest.fixture
def zone(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def in_zone(*names):
    return pytest.mark.parametrize("zone", names, indirect=True)


def ms(text):
    """An instant of the local time, in ms since the epoch."""
    return round(datetime.fromisoformat(text).astimezone().timestamp() * 1000)


def shown(tick):
    """What the local clock shows at a tick."""
    return datetime.fromtimestamp(tick.at / 1000, UTC).astimezone()


def labels(since, until, columns):
    return [tick.label for tick in time_ticks(ms(since), ms(until), columns)]


@in_zone("UTC")
def test_labels_have_the_digits_that_the_step_needs(zone):
    assert labels("2026-11-22 12:43:07", "2026-11-22 12:44:07", 60) == [
        "12:43:15", "12:43:30", "12:43:45", "12:44:00",
    ]  # fmt: skip
    assert labels("2026-11-22 12:43:07", "2026-11-22 12:48:07", 60) == [
        "12:44", "12:45", "12:46", "12:47", "12:48",
    ]  # fmt: skip
    assert labels("2026-11-22 12:43:07", "2026-11-22 13:43:07", 80) == [
        "12:50", "13:00", "13:10", "13:20", "13:30", "13:40",
    ]  # fmt: skip
    assert labels("2026-11-22 12:43:07", "2026-11-23 12:43:07", 50) == ["18:00", "23 Nov", "06:00", "12:00"]


@in_zone("UTC")
def test_a_week_is_marked_by_days_a_month_on_mondays_and_a_year_on_the_first_of_months(zone):
    assert labels("2026-11-15 09:00", "2026-11-22 09:00", 90) == [f"{day} Nov" for day in range(16, 23)]
    mondays = time_ticks(ms("2026-10-23 09:00"), ms("2026-11-22 09:00"), 60)
    assert [tick.label for tick in mondays] == ["26 Oct", "2 Nov", "9 Nov", "16 Nov"]
    assert {shown(tick).weekday() for tick in mondays} == {0}
    assert labels("2025-11-22 09:00", "2026-11-22 09:00", 110) == [
        "Dec", "2026", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov",
    ]  # fmt: skip
    firsts = time_ticks(ms("2023-12-10"), ms("2024-12-10"), 110)
    assert {shown(tick).day for tick in firsts} == {1}  # February of a leap year too
    assert labels("2006-06-01", "2026-06-01", 60) == ["2010", "2015", "2020", "2025"]


@in_zone("UTC", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu")
def test_there_are_three_labels_wherever_there_is_room_and_none_touch_or_leave_the_axis(zone):
    ends = ("2026-11-22 12:43:07", "2024-02-29 23:59:59", "2026-03-08 03:10", "2018-11-04 05:00", "2026-01-01 00:00")
    for until in map(ms, ends):
        for length in LENGTHS.values():
            for columns in (4, 10, 24, 36, 50, 90, 180):
                ticks = time_ticks(until - length, until, columns)
                assert all(until - length <= tick.at <= until for tick in ticks)
                assert all(0 <= tick.start <= columns - len(tick.label) for tick in ticks)
                assert all(one.start + len(one.label) < two.start for one, two in pairwise(ticks))
                assert len(ticks) >= (ENOUGH if columns >= 50 else 2 if columns >= 36 else 0), (until, length, columns)
                rows = time_rows(until - length, until, columns)
                assert [len(row) for row in rows] == [columns, columns]
                assert rows[0].count("┬") == len(ticks)


@in_zone("UTC", "Asia/Kolkata", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe")
def test_ticks_are_round_on_the_local_clock_through_the_days_on_which_it_changes(zone):
    for day in ("2026-03-07", "2026-03-28", "2026-10-24", "2026-10-31", "2026-04-04", "2026-10-03"):
        since = ms(day)
        for hours in (6, 24, 48, 72):
            ticks = time_ticks(since, since + hours * HOUR, 80)
            clocks = [shown(tick) for tick in ticks]
            assert all(one.second == 0 and one.minute in (0, 30) for one in clocks)
            assert [tick.at for tick in ticks] == sorted({tick.at for tick in ticks})
            if hours >= 48:
                assert {one.hour % 6 for one in clocks} == {0}


@in_zone("Europe/Berlin")
def test_the_hour_that_comes_twice_is_marked_twice_and_the_one_left_out_not_at_all(zone):
    autumn = time_ticks(ms("2026-10-25 00:30"), ms("2026-10-25 05:30"), 60)
    assert [tick.label for tick in autumn] == ["01:00", "02:00", "02:00", "03:00", "04:00", "05:00"]
    assert {after.at - before.at for before, after in pairwise(autumn)} == {HOUR}
    spring = time_ticks(ms("2026-03-29 00:30"), ms("2026-03-29 06:30"), 60)
    assert [tick.label for tick in spring] == ["01:00", "03:00", "04:00", "05:00", "06:00"]


@in_zone("America/Sao_Paulo")
def test_a_day_that_begins_at_one_o_clock_is_marked_where_it_begins(zone):
    ticks = time_ticks(ms("2018-11-01"), ms("2018-11-08"), 80)
    begins = {tick.label: tick.at for tick in ticks}
    assert begins["4 Nov"] == ms("2018-11-04 01:00")
    assert begins["5 Nov"] == ms("2018-11-05 00:00")


def test_no_ticks_where_there_is_no_time_or_no_room():
    assert time_ticks(5, 5, 40) == ()
    assert time_ticks(0, HOUR, 0) == ()
    assert time_rows(0, HOUR, 3) == ("───", "   ")
