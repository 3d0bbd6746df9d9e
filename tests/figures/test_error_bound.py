"""The trust a probe's marks deserve: bounds, shares, and what is not known; figures worked out by hand."""

import pytest

from probes.events import Kind
from probes.figures.error_bound import ErrorBound, error_bound, event_uncertainties_ns, setup_bound_ms
from probes.figures.timeline import ContentEvent, Timeline
from probes.sample import TRUSTED_MS, TRUSTED_SPEED
from probes.sockets.connection_timing import ConnectionTiming, Step

MS = 1_000_000


def timeline(
    *contents: tuple[float, float | None], sent: int | None = 0, sent_uncertainty_ns: int | None = 0
) -> Timeline:
    """Outputs as pairs of when (ms) and uncertainty (ms)."""
    made = [
        ContentEvent(round(at * MS), Kind.ANSWER, 4, uncertainty_ns=None if late is None else round(late * MS))
        for at, late in contents
    ]
    return Timeline(due=0, started=0, sent=sent, sent_uncertainty_ns=sent_uncertainty_ns, contents=made)


def test_the_bound_is_the_greatest_uncertainty_of_any_output():
    assert error_bound(timeline((100, 0.1), (150, 3.25), (200, 0.2))).error_bound_ms == 3.25


def test_the_bound_is_that_of_sent_where_that_is_greater():
    assert error_bound(timeline((100, 0.1), (200, 0.2), sent_uncertainty_ns=7 * MS)).error_bound_ms == 7
    assert error_bound(timeline((100, 0.1), (200, 0.2), sent_uncertainty_ns=None)).error_bound_ms == 0.2


def test_the_uncertainties_of_the_first_and_the_last_bound_the_speed():
    assert error_bound(timeline((100, 1), (150, 9), (200, 0.5))).speed_error == 0.015


def test_there_is_no_speed_in_no_time():
    assert error_bound(timeline((100, 1))) == ErrorBound(1.0, None, 0)
    assert error_bound(timeline((100, 1), (100, 1))) == ErrorBound(1.0, None, 1)


def test_events_of_one_stamp_share_it():
    assert error_bound(timeline((100, 0), (100, 0), (100, 0), (110, 0), (120, 0), (120, 0))).shared == 3


@pytest.mark.parametrize("nothing", [timeline(), timeline((100, 0), sent=None)])
def test_nothing_is_known_without_output_or_request(nothing: Timeline):
    assert error_bound(nothing) == ErrorBound(None, None, None)
    assert error_bound(nothing).trusted is None


@pytest.mark.parametrize("uncertainties", [(None, 0.0), (0.0, None), (None, None)])
def test_one_stamp_that_nobody_vouches_for_and_no_bound_is_known(uncertainties: tuple[float | None, float | None]):
    one, other = uncertainties
    found = error_bound(timeline((100, one), (100, other)))
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
    assert error_bound(timeline((100, 1), (150, 0))).trusted is True
    assert error_bound(timeline((100, 1), (149, 0))).trusted is False
    assert error_bound(timeline((100, 0), (200, 6), (10_000, 0))).trusted is False


STALLED = timeline((100, 0), (150, 0), (150, 0), (150, 0), (150, 0), (150, 0), (160, 0), (170, 0))
"""An event every 10 ms; those of 110 to 150 ms lay together while nobody could read, and have the stamp of the last."""


def test_events_that_share_a_stamp_may_have_come_while_the_processor_was_taken_away():
    assert error_bound(STALLED) == ErrorBound(0.0, 0.0, 4)
    assert error_bound(STALLED, 0.0) == ErrorBound(0.0, 0.0, 4)
    assert error_bound(STALLED, 200.0) == ErrorBound(50.0, 0.0, 4)


def test_no_longer_than_it_was_taken_away():
    assert error_bound(STALLED, 30.0).error_bound_ms == 30


def test_the_first_events_may_have_come_since_the_request_was_sent_and_the_speed_is_uncertain_with_them():
    first = timeline((100, 0), (100, 0), (100, 0), *((100 + each * 50, 0) for each in range(1, 8)), sent=20 * MS)
    assert error_bound(first, 60.0) == ErrorBound(60.0, round(60 / 350, 6), 2)
    assert error_bound(first, 1_000.0).error_bound_ms == 80


def test_what_comes_in_twos_and_threes_at_its_own_pace_stays_trusted():
    """2,000 tokens/s whose server puts three events in a segment: three take 1.5 ms, in 200 ms stolen as well."""
    steady = timeline(*((100 + each // 3 * 1.5, 0) for each in range(900)))
    assert error_bound(steady).shared == 600
    found = error_bound(steady, 200.0)
    assert found.trusted is True
    assert found.error_bound_ms == pytest.approx(2 * 2 * 448.5 / 899, abs=0.001)


def test_what_came_all_at_once_may_have_come_at_any_time():
    assert error_bound(timeline((100, 0), (100, 0)), 60.0).error_bound_ms == 60


def test_a_stamp_that_is_nobody_elses_is_no_more_uncertain_than_its_reader_says():
    assert error_bound(timeline((100, 0.1), (150, 0.2), (200, 0.1)), 1_000.0) == ErrorBound(0.2, 0.002, 0)


def test_a_bound_has_four_decimals_of_a_millisecond_and_a_share_six():
    found = error_bound(timeline((100, 0.123456), (400, 0.1)))
    assert (found.error_bound_ms, found.speed_error) == (0.1235, 0.000745)


@pytest.mark.parametrize(
    ("uncertainties", "bound_ms"),
    [((1_234_567, 0), 1.2346), ((0, 3 * MS), 3.0), ((None, 1), None), ((None, None), None)],
)
def test_the_bound_of_a_set_up_is_that_of_its_least_certain_step(
    uncertainties: tuple[int | None, int | None], bound_ms: float | None
):
    connect, tls = (Step(0, 1, one) for one in uncertainties)
    assert setup_bound_ms(ConnectionTiming(connect, tls=tls)) == bound_ms


def test_without_a_request_the_hypervisor_is_held_to_nothing():
    assert event_uncertainties_ns(timeline((100, 1), (100, 1), sent=None), 50.0) == [MS, MS]


def test_of_events_with_one_stamp_the_earlier_ones_may_have_come_the_earlier():
    """Three at 100 ms, ten apart on the average before: the first may be twice two gaps early, the last not at all."""
    events = timeline((40, 0), (100, 0), (100, 0), (100, 0), sent=0)
    assert event_uncertainties_ns(events, 1_000.0) == [0, 60 * MS, 40 * MS, 0]
    assert event_uncertainties_ns(events, 30.0) == [0, 30 * MS, 30 * MS, 0]
    assert event_uncertainties_ns(timeline((50, 0), (50, 0)), 1_000.0) == [50 * MS, 0]
