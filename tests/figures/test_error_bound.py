"""The trust a probe's marks deserve: bounds, shares, and what is not known; figures worked out by hand."""

import pytest

from probes.events import Kind
from probes.figures.error_bound import ErrorBound, trust
from probes.figures.timeline import Content, Timeline
from probes.sample import TRUSTED_MS, TRUSTED_SPEED

MS = 1_000_000


def marks(*contents: tuple[float, float | None], sent: int | None = 0, sent_doubt: int | None = 0) -> Timeline:
    """Outputs as pairs of when (ms) and doubt (ms)."""
    made = [
        Content(round(at * MS), Kind.ANSWER, 4, doubt=None if doubt is None else round(doubt * MS))
        for at, doubt in contents
    ]
    return Timeline(due=0, started=0, sent=sent, sent_doubt=sent_doubt, contents=made)


def test_the_bound_is_the_greatest_doubt_of_any_output():
    assert trust(marks((100, 0.1), (150, 3.25), (200, 0.2))).error_bound_ms == 3.25


def test_the_bound_is_that_of_sent_where_that_is_greater():
    assert trust(marks((100, 0.1), (200, 0.2), sent_doubt=7 * MS)).error_bound_ms == 7
    assert trust(marks((100, 0.1), (200, 0.2), sent_doubt=None)).error_bound_ms == 0.2


def test_the_doubts_of_the_first_and_the_last_bound_the_speed():
    assert trust(marks((100, 1), (150, 9), (200, 0.5))).speed_error == 0.015


def test_there_is_no_speed_in_no_time():
    assert trust(marks((100, 1))) == ErrorBound(1.0, None, 0)
    assert trust(marks((100, 1), (100, 1))) == ErrorBound(1.0, None, 1)


def test_events_of_one_stamp_share_it():
    assert trust(marks((100, 0), (100, 0), (100, 0), (110, 0), (120, 0), (120, 0))).shared == 3


@pytest.mark.parametrize("nothing", [marks(), marks((100, 0), sent=None)])
def test_nothing_is_known_without_output_or_request(nothing: Timeline):
    assert trust(nothing) == ErrorBound(None, None, None)
    assert trust(nothing).trusted is None


@pytest.mark.parametrize("doubts", [(None, 0.0), (0.0, None), (None, None)])
def test_one_stamp_that_nobody_vouches_for_and_no_bound_is_known(doubts: tuple[float | None, float | None]):
    one, other = doubts
    found = trust(marks((100, one), (100, other)))
    assert found == ErrorBound(None, None, 1)
    assert found.trusted is None


def test_the_limits_are_those_that_are_told_to_people():
    assert (TRUSTED_MS, TRUSTED_SPEED) == (5.0, 0.02)


@pytest.mark.parametrize(
    ("bound", "speed", "trusted"),
    [
        (0.0, 0.0, True),
        (5.0, 0.02, True),
        (5.0, None, True),
        (5.0001, 0.0, False),
        (5.0001, None, False),
        (0.0, 0.020001, False),
        (None, None, None),
        (None, 0.5, None),
    ],
)
def test_a_sample_is_trusted_within_both_limits(bound: float | None, speed: float | None, trusted: bool | None):
    assert ErrorBound(bound, speed).trusted is trusted


def test_a_short_answer_is_held_to_the_share_and_a_long_one_to_the_bound():
    assert trust(marks((100, 1), (150, 0))).trusted is True
    assert trust(marks((100, 1), (149, 0))).trusted is False
    assert trust(marks((100, 0), (200, 6), (10_000, 0))).trusted is False


STALLED = marks((100, 0), (150, 0), (150, 0), (150, 0), (150, 0), (150, 0), (160, 0), (170, 0))
"""An event every 10 ms; those of 110 to 150 ms lay together while nobody could read, and have the stamp of the last."""


def test_events_that_share_a_stamp_may_have_come_while_the_processor_was_taken_away():
    assert trust(STALLED) == ErrorBound(0.0, 0.0, 4)
    assert trust(STALLED, 0.0) == ErrorBound(0.0, 0.0, 4)
    assert trust(STALLED, 200.0) == ErrorBound(50.0, 0.0, 4)


def test_no_longer_than_it_was_taken_away():
    assert trust(STALLED, 30.0).error_bound_ms == 30


def test_the_first_events_may_have_come_since_the_request_was_sent_and_the_speed_is_in_doubt_with_them():
    first = marks((100, 0), (100, 0), (100, 0), *((100 + each * 50, 0) for each in range(1, 8)), sent=20 * MS)
    assert trust(first, 60.0) == ErrorBound(60.0, round(60 / 350, 6), 2)
    assert trust(first, 1_000.0).error_bound_ms == 80


def test_what_comes_in_twos_and_threes_at_its_own_pace_stays_trusted():
    """2,000 tokens/s whose server puts three events in a segment: three take 1.5 ms, in 200 ms stolen as well."""
    steady = marks(*((100 + each // 3 * 1.5, 0) for each in range(900)))
    assert trust(steady).shared == 600
    found = trust(steady, 200.0)
    assert found.trusted is True
    assert found.error_bound_ms == pytest.approx(2 * 2 * 448.5 / 899, abs=0.001)


def test_what_came_all_at_once_may_have_come_at_any_time():
    assert trust(marks((100, 0), (100, 0)), 60.0).error_bound_ms == 60


def test_a_stamp_that_is_nobody_elses_is_in_no_more_doubt_than_its_reader_says():
    assert trust(marks((100, 0.1), (150, 0.2), (200, 0.1)), 1_000.0) == ErrorBound(0.2, 0.002, 0)
