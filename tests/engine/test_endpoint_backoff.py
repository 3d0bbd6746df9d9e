"""Back-off: what a provider asks is kept to, the rest doubles up to a cap, and nothing is shorter for the jitter."""

import random

import pytest

from probes.engine.endpoint_backoff import (
    JITTER,
    JITTER_CEILING_S,
    OUT_OF_QUOTA,
    REFUSED,
    REQUESTED_CEILING_S,
    EndpointBackoff,
)
from probes.outcome import Outcome
from tests.samples import sample

LIMITED = sample(outcome=Outcome.RATE_LIMITED)


def test_a_wait_that_was_asked_for_is_kept_to():
    asked = sample(outcome=Outcome.RATE_LIMITED, retry_after_s=41.5)
    waits = [EndpointBackoff().after(asked, random.Random(seed), 60.0)[1] or 0.0 for seed in range(200)]
    assert all(41.5 <= wait <= 41.5 * (1 + JITTER) for wait in waits)
    assert len(set(waits)) > 190, "recorders that were refused together do not come back together"


def test_a_wait_that_was_asked_for_is_bounded():
    _, wait = EndpointBackoff().after(sample(outcome=Outcome.QUOTA, retry_after_s=1e9), random.Random(1), 60.0)
    assert wait is not None
    assert REQUESTED_CEILING_S <= wait <= REQUESTED_CEILING_S + JITTER_CEILING_S
    _, wait = EndpointBackoff().after(sample(outcome=Outcome.QUOTA, retry_after_s=-5), random.Random(1), 60.0)
    assert wait is not None
    assert wait >= OUT_OF_QUOTA.floor_s


def test_waits_double_up_to_the_cap_and_a_little_is_added():
    rng, state = random.Random(2), EndpointBackoff()
    ceilings = [30, 60, 120, 240, 480, 900, 900, 900]
    for ceiling in ceilings:
        waits = [state.after(LIMITED, rng, 60.0)[1] for _ in range(200)]
        assert all(wait is not None and ceiling <= wait <= (1 + JITTER) * ceiling for wait in waits)
        state, _ = state.after(LIMITED, rng, 60.0)
    assert ceilings[0] == REFUSED.floor_s
    assert ceilings[-1] == REFUSED.ceiling_s


def test_no_number_of_refusals_overflows():
    _, wait = EndpointBackoff(10_000).after(LIMITED, random.Random(3), 60.0)
    assert wait is not None
    assert wait <= REFUSED.ceiling_s * (1 + JITTER)


def test_a_lack_of_credit_is_never_looked_at_again_soon():
    """Nothing but a payment ends it, whatever short wait comes with it; the sixth look is hours after the fifth."""
    for credit in (sample(outcome=Outcome.QUOTA), sample(outcome=Outcome.QUOTA, retry_after_s=2)):
        waits, state = [], EndpointBackoff()
        for _ in range(7):
            state, wait = state.after(credit, random.Random(1), 60.0)
            waits.append(wait or 0.0)
        floors = [OUT_OF_QUOTA.floor_s * 2**number for number in range(5)] + [OUT_OF_QUOTA.ceiling_s] * 2
        assert all(floor <= wait <= floor * (1 + JITTER) for floor, wait in zip(floors, waits, strict=True)), waits


def test_a_quota_that_ends_at_a_known_time_is_waited_for_until_then_and_no_longer():
    soon = sample(outcome=Outcome.QUOTA, retry_after_s=100.0)
    _, wait = EndpointBackoff(3).after(soon, random.Random(1), 60.0, why="the day's quota, until 00:00 Pacific time")
    assert wait is not None
    assert 100 <= wait <= 110


def test_a_busy_server_that_asks_for_time_is_given_it_up_to_a_quarter_of_an_hour():
    for asked, least in ((120.0, 120.0), (86_400.0, REFUSED.ceiling_s)):
        state, wait = EndpointBackoff(4).after(
            sample(outcome=Outcome.OVERLOADED, retry_after_s=asked), random.Random(1), 60.0
        )
        assert state == EndpointBackoff()
        assert wait is not None
        assert least <= wait <= least * (1 + JITTER)


def test_a_good_sample_and_a_failure_end_it():
    assert EndpointBackoff(5).after(sample(), random.Random(1), 60.0) == (EndpointBackoff(0), None)
    assert EndpointBackoff(5).after(sample(outcome=Outcome.SERVER_ERROR), random.Random(1), 60.0) == (
        EndpointBackoff(0),
        None,
    )


def test_a_wait_that_comes_with_a_good_answer_is_a_mere_hint():
    assert EndpointBackoff().after(sample(retry_after_s=1.0), random.Random(1), 60.0) == (
        EndpointBackoff(0),
        None,
    )  # Together sends them


@pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.OWN_FAULT])
def test_what_says_nothing_of_the_endpoint_changes_nothing(outcome):
    assert EndpointBackoff(5).after(sample(outcome=outcome), random.Random(1), 60.0) == (EndpointBackoff(5), None)


FLOOD = sample(outcome=Outcome.PROTOCOL)


def test_the_interval_of_an_endpoint_that_floods_doubles_up_to_16_minutes_until_a_good_sample():
    rng, state, intervals = random.Random(1), EndpointBackoff(), []
    for _ in range(12):
        state, wait = state.after(FLOOD, rng, 1.0, flooded=True)
        assert wait is not None
        intervals.append(wait + 0.5)
    assert intervals == [2, 4, 8, 16, 32, 64, 128, 256, 512, 960, 960, 960]
    state, wait = state.after(sample(outcome=Outcome.TIMEOUT), rng, 1.0)
    assert wait == 959.5, "another failure is no good sample"
    state, wait = state.after(LIMITED, rng, 1.0)
    assert (state.floods, state.refusals) == (12, 1)
    assert state.after(sample(outcome=Outcome.OWN_FAULT), rng, 1.0) == (state, None)
    assert state.after(sample(), rng, 1.0) == (EndpointBackoff(), None)


def test_a_long_interval_is_never_made_shorter():
    assert EndpointBackoff().after(FLOOD, random.Random(1), 3600.0, flooded=True) == (EndpointBackoff(floods=1), None)


def test_a_protocol_error_that_is_no_flood_is_not_backed_off_from():
    assert EndpointBackoff().after(FLOOD, random.Random(1), 1.0) == (EndpointBackoff(), None)
