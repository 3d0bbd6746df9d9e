"""Back-off: what a provider asks is kept to, the rest is exponential with full jitter, and bounded."""

import random

import pytest

from probes.backoff import ASKED_CAP_S, BASE_S, CAP_S, QUOTA_BASE_S, Backoff
from probes.outcome import Outcome
from tests.samples import sample

LIMITED = sample(outcome=Outcome.RATE_LIMITED)


def test_a_wait_that_was_asked_for_is_kept_to():
    _, wait = Backoff().after(sample(outcome=Outcome.RATE_LIMITED, retry_after_s=41.5), random.Random(1), 60.0)
    assert wait == 41.5


def test_a_wait_that_was_asked_for_is_bounded():
    _, wait = Backoff().after(sample(outcome=Outcome.QUOTA, retry_after_s=1e9), random.Random(1), 60.0)
    assert wait == ASKED_CAP_S
    _, wait = Backoff().after(sample(outcome=Outcome.QUOTA, retry_after_s=-5), random.Random(1), 60.0)
    assert wait == 0


def test_waits_grow_with_full_jitter_up_to_the_cap():
    rng, state = random.Random(2), Backoff()
    ceilings = [30, 60, 120, 240, 480, 900, 900, 900]
    for ceiling in ceilings:
        waits = [state.after(LIMITED, rng, 60.0)[1] for _ in range(200)]
        assert all(wait is not None and 0 <= wait <= ceiling for wait in waits)
        assert max(wait or 0 for wait in waits) > 0.8 * ceiling
        assert min(wait or 0 for wait in waits) < 0.2 * ceiling
        state, _ = state.after(LIMITED, rng, 60.0)
    assert ceilings[0] == BASE_S
    assert ceilings[-1] == CAP_S


def test_no_number_of_refusals_overflows():
    _, wait = Backoff(10_000).after(LIMITED, random.Random(3), 60.0)
    assert wait is not None
    assert wait <= CAP_S


def test_quota_waits_longer_than_a_rate_limit():
    waits = [Backoff().after(sample(outcome=Outcome.QUOTA), random.Random(seed), 60.0)[1] or 0 for seed in range(200)]
    assert BASE_S < max(waits) <= QUOTA_BASE_S


def test_a_good_sample_and_a_failure_end_it():
    assert Backoff(5).after(sample(), random.Random(1), 60.0) == (Backoff(0), None)
    assert Backoff(5).after(sample(outcome=Outcome.SERVER_ERROR), random.Random(1), 60.0) == (Backoff(0), None)


def test_a_wait_that_comes_with_a_good_answer_is_a_mere_hint():
    assert Backoff().after(sample(retry_after_s=1.0), random.Random(1), 60.0) == (
        Backoff(0),
        None,
    )  # Together sends them


@pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.OWN_FAULT])
def test_what_says_nothing_of_the_endpoint_changes_nothing(outcome):
    assert Backoff(5).after(sample(outcome=outcome), random.Random(1), 60.0) == (Backoff(5), None)


FLOOD = sample(outcome=Outcome.PROTOCOL)


def test_the_interval_of_an_endpoint_that_floods_doubles_up_to_16_minutes_until_a_good_sample():
    rng, state, intervals = random.Random(1), Backoff(), []
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
    assert state.after(sample(), rng, 1.0) == (Backoff(), None)


def test_a_long_interval_is_never_made_shorter():
    assert Backoff().after(FLOOD, random.Random(1), 3600.0, flooded=True) == (Backoff(floods=1), None)


def test_a_protocol_error_that_is_no_flood_is_not_backed_off_from():
    assert Backoff().after(FLOOD, random.Random(1), 1.0) == (Backoff(), None)
