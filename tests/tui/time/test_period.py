"""Periods: the present, the past, and how keys and typed words move between them."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from probes.stats.time_range import TimeRange
from tui.time.period import DAY_MS, LENGTHS, Period, dates, looks_like_period, neighbour, parse_period

HOUR = LENGTHS["1 h"]


def at(text):
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


NOW = at("2026-11-21T08:40")


def test_the_present_moves_and_the_past_does_not():
    assert Period(HOUR).span(NOW) == TimeRange(NOW - HOUR, NOW)
    assert Period(HOUR, 5 * HOUR).span(NOW) == TimeRange(4 * HOUR, 5 * HOUR)


def test_a_step_back_is_half_the_length_and_forth_again_is_the_present():
    back = Period(HOUR).stepped(-1, NOW)
    assert (back.until, back.live) == (NOW - HOUR // 2, False)
    assert back.stepped(1, NOW) == Period(HOUR)
    assert Period(HOUR).stepped(1, NOW) == Period(HOUR)


def test_another_length_keeps_the_middle_in_view():
    past = Period(HOUR, NOW - 10 * DAY_MS)
    assert past.resized(DAY_MS, NOW).until == NOW - 10 * DAY_MS - HOUR // 2 + DAY_MS // 2
    assert Period(HOUR).resized(DAY_MS, NOW) == Period(DAY_MS)
    assert Period(HOUR, NOW - HOUR).resized(30 * DAY_MS, NOW).live


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("36h", Period(36 * HOUR)),
        ("45d", Period(45 * DAY_MS)),
        ("2026-11-14", Period(DAY_MS, at("2026-11-15"))),
        ("2026-11-14 15:00", Period(HOUR, at("2026-11-14T15:30"))),
        ("2026-11-14T15:00+02:00", Period(HOUR, at("2026-11-14T13:30"))),
        ("2026-11-21 08:30", Period(HOUR)),  # half an hour after it has not been yet
        ("2026-11-01..2026-11-07", Period(7 * DAY_MS, at("2026-11-08"))),
        ("2026-11-01 12:00 .. 2026-11-01 13:30", Period(90 * 60_000, at("2026-11-01T13:30"))),
        ("2026-11-21", Period(DAY_MS)),
    ],
)
def test_what_people_type(text, period):
    assert parse_period(text, Period(HOUR), NOW, UTC) == period


@pytest.mark.parametrize("length", LENGTHS.values())
@pytest.mark.parametrize("text", ["2026-08-14", "2026-08-14 09:30", "2026-11-20", "2026-11-21 08:39"])
def test_a_date_is_in_the_span_from_any_window_and_in_its_middle_where_there_is_time(text, length):
    found, day = parse_period(text, Period(length), NOW, UTC), text.startswith("2026-08-14")
    span, instant = found.span(NOW), at(text.replace(" ", "T"))
    assert span.since <= instant < span.until <= NOW
    assert found.length_ms == max(length, DAY_MS if len(text) == 10 else LENGTHS["5 m"])
    if day and length <= 90 * DAY_MS:
        middle = instant + (DAY_MS // 2 if len(text) == 10 else 0)
        assert (span.since + span.until) // 2 == middle


def test_a_day_on_which_clocks_are_put_is_as_long_as_it_is():
    berlin = ZoneInfo("Europe/Berlin")
    lengths = [parse_period(text, Period(HOUR), NOW, berlin).length_ms for text in ("2026-03-29", "2026-10-25")]
    assert lengths == [23 * HOUR, 25 * HOUR]


def test_a_span_that_reaches_into_the_future_ends_now():
    assert parse_period("2026-11-20 .. 2026-12-31", Period(HOUR), NOW, UTC) == Period(NOW - at("2026-11-20"))


WRONG = ("", "groq", "7", "2026-13-01", "2030-01-01", "2026-11-07..2026-11-01", "5s", "30y")
BEYOND = (
    "9999-12-31",
    "9999-12-31 23:59",
    "0001-01-01",
    "1969-12-31",
    "2026-11-01..9999-12-31",
    "1990-01-01..2026-11-14",
)


@pytest.mark.parametrize("text", [*WRONG, *BEYOND])
@pytest.mark.parametrize("zone", [UTC, ZoneInfo("America/New_York"), None])
def test_anything_else_is_explained(text, zone):
    with pytest.raises(ValueError, match=r"write a date|has not been|nothing was|a period"):
        parse_period(text, Period(HOUR), NOW, zone)


@pytest.mark.parametrize(
    ("length", "words"),
    [(DAY_MS, "24 h"), (36 * HOUR, "36 h"), (45 * DAY_MS, "45 d"), (365 * DAY_MS, "1 y"), (90 * 60_000, "90 m"),
     (61_000, "61 s")],
)  # fmt: skip
def test_a_length_is_said_exactly(length, words):
    assert Period(length).words == words


@pytest.mark.parametrize(
    ("since", "until", "words"),
    [
        ("2026-11-14T15:00", "2026-11-14T16:00", "14 Nov 15:00 – 16:00"),
        ("2026-11-14T15:00", "2026-11-15T03:00", "14 Nov 15:00 – 15 Nov 03:00"),
        ("2026-11-14T15:00:30", "2026-11-14T15:01:30", "14 Nov 15:00:30 – 15:01:30"),
        ("2026-08-16", "2026-11-14", "16 Aug – 13 Nov"),  # its last day, not the midnight at which it ends
        ("2025-11-14T15:00", "2025-11-14T16:00", "14 Nov 2025 15:00 – 16:00"),
        ("2025-12-01", "2026-02-01", "1 Dec 2025 – 31 Jan 2026"),
    ],
)
def test_dates_are_as_short_as_they_are_plain(since, until, words):
    assert dates(at(since), at(until), NOW, UTC) == words


def test_the_neighbour_of_a_length_is_the_next_one_round_and_round():
    assert neighbour([1, 5, 9], 5, 1) == 9
    assert neighbour([1, 5, 9], 9, 1) == 1
    assert neighbour([1, 5, 9], 1, -1) == 9
    assert neighbour([1, 5, 9], 6, 1) == 9
    assert neighbour([1, 5, 9], 6, -1) == 5


@pytest.mark.parametrize(
    ("text", "timely"),
    [("2026-11-1", True), ("15:00", True), ("36h", True), ("45 d", True), ("2026-11-01..2026-11-02", True),
     ("gpt", False), ("70b", False), ("2026", False), ("4o", False), ("", False), ("kimi 36h", False)],
)  # fmt: skip
def test_what_begins_as_a_time_is_none_of_a_filter(text, timely):
    assert looks_like_period(text) is timely
