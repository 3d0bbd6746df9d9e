"""Periods: the present, the past, and how keys and typed words move between them."""

from datetime import UTC, datetime

import pytest

from probes.span import Span
from tui.period import DAY_MS, LENGTHS, Period, parse_period

HOUR = LENGTHS["1 h"]


def at(text):
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


NOW = at("2026-11-21T08:40")


def test_the_present_moves_and_the_past_does_not():
    assert Period(HOUR).span(NOW) == Span(NOW - HOUR, NOW)
    assert Period(HOUR, 5 * HOUR).span(NOW) == Span(4 * HOUR, 5 * HOUR)


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
        ("2026-11-14 15:00", Period(HOUR, at("2026-11-14T16:00"))),
        ("2026-11-14T15:00+02:00", Period(HOUR, at("2026-11-14T14:00"))),
        ("2026-11-01..2026-11-07", Period(7 * DAY_MS, at("2026-11-08"))),
        ("2026-11-01 12:00 .. 2026-11-01 13:30", Period(90 * 60_000, at("2026-11-01T13:30"))),
        ("2026-11-21", Period(DAY_MS)),
    ],
)
def test_what_people_type(text, period):
    assert parse_period(text, Period(HOUR), NOW, UTC) == period


@pytest.mark.parametrize("text", ["", "groq", "7", "2026-13-01", "2030-01-01", "2026-11-07..2026-11-01", "5s", "30y"])
def test_anything_else_is_explained(text):
    with pytest.raises(ValueError, match=r"write a date|has not been|a period"):
        parse_period(text, Period(HOUR), NOW, UTC)
