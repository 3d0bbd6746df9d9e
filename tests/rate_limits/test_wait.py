"""Waits after a refusal at given instants: the longest of all that were sent, and the ends of days in time zones."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfoNotFoundError

import pytest

from probes.events import Failure
from probes.outcome import Outcome
from probes.rate_limits.headers import Bucket, RateLimits
from probes.rate_limits.wait import CLOSED_S, Wait, wait_after
from probes.wire.errors.google_details import PACIFIC

HOUR = 3600.0
NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC).timestamp()


def refused(
    message: str = "slow down", *buckets: Bucket, requested: float | None = None, now: float = NOON
) -> Wait | None:
    return wait_after(Failure(Outcome.RATE_LIMITED, message), RateLimits(buckets, requested), now)


def test_without_a_hint_there_is_no_wait():
    assert refused() is None
    assert refused("Rate limit reached on tokens per minute") is None


def test_the_longest_wait_counts_and_full_buckets_do_not():
    empty, fuller = Bucket("tokens", "minute", None, 6000, 0, 12), Bucket("requests", "day", None, 100, 1, 9 * HOUR)
    assert refused("slow down", empty, fuller) == Wait(12, "tokens per minute used up")
    assert refused("slow down", empty, fuller, requested=20.0) == Wait(20)
    assert refused("slow down", empty, fuller, requested=3.0) == Wait(12, "tokens per minute used up")
    spent = Bucket("requests", "day", None, 100, 0, 9 * HOUR)
    assert refused("slow down", empty, spent, requested=20.0) == Wait(9 * HOUR, "requests per day used up")


def test_a_bucket_that_fills_up_steadily_is_no_longer_than_what_was_asked():
    steady = Bucket("requests", "day", None, 1000, 0, 24 * HOUR - 2)
    assert refused("slow down", steady, requested=87.0) == Wait(87)
    assert refused("slow down", steady) == Wait(24 * HOUR - 2, "requests per day used up"), "where nothing else is said"


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (datetime(2026, 7, 1, 12, 0, tzinfo=UTC), 19),  # PDT, UTC-7
        (datetime(2026, 12, 1, 12, 0, tzinfo=UTC), 20),  # PST, UTC-8
        (datetime(2026, 12, 1, 7, 59, tzinfo=UTC), 1 / 60),
        (datetime(2026, 12, 1, 8, 0, tzinfo=UTC), 24),
        (datetime(2026, 11, 1, 7, 0, tzinfo=UTC), 25),  # the day on which the clocks are set back
        (datetime(2026, 3, 8, 8, 0, tzinfo=UTC), 23),  # and forward
    ],
)
def test_googles_day_ends_at_midnight_in_california(now: datetime, hours: float):
    failure = Failure(Outcome.QUOTA, "used up", provider_message="GenerateRequestsPerDayPerProject", day_zone=PACIFIC)
    found = wait_after(failure, None, now.timestamp())
    assert found is not None
    assert found.seconds == pytest.approx(hours * HOUR)
    assert found.why == "the day's quota, until 00:00 Pacific time"


def test_a_system_without_time_zones_waits_an_hour_longer_at_most(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ZoneInfoNotFoundError(name)

    monkeypatch.setattr("probes.rate_limits.wait.ZoneInfo", missing)
    found = wait_after(Failure(Outcome.QUOTA, "used up", day_zone=PACIFIC), None, NOON)
    assert found is not None
    assert found.seconds == 20 * HOUR


def test_a_day_whose_end_nobody_names_ends_at_midnight_utc_and_so_does_a_months_wait():
    assert refused("Too many tokens per day") == Wait(12 * HOUR, "the day's quota, until 00:00 UTC")
    assert refused("Too many tokens per day", requested=60.0) == Wait(60), "somebody does"
    spent = Bucket("tokens", "month", None, 1e6, 0)
    assert refused("slow down", spent, requested=1.0) == Wait(12 * HOUR, "the month's quota, until 00:00 UTC")


def test_an_instant_in_words_is_believed_where_it_is_ahead():
    message = "You have reached your limit. You will regain access on 2026-07-01 at 15:30 UTC."
    assert refused(message) == Wait(3.5 * HOUR, "until 2026-07-01 15:30 UTC")
    assert refused(message, now=NOON + 4 * HOUR) is None
    assert refused("Limit resets at: 2026-02-30 10:00 UTC") is None, "no such day"


def test_a_limit_of_nothing_is_looked_at_after_hours():
    fast = Bucket("tokens", "fast", "output", 0, 0)
    closed = Wait(CLOSED_S, "the limit of output tokens (fast) is 0, nothing is allowed")
    assert refused("slow down", fast, requested=30.0) == closed
    assert refused("slow down", Bucket("tokens", "minute", None, 0, 0), requested=6.0) == Wait(6), (
        "Azure's 0 is no limit"
    )


def test_what_is_no_refusal_is_waited_for_as_long_as_it_asks():
    spent = RateLimits((Bucket("requests", "day", None, 100, 0, 9 * HOUR),), 5.0)
    assert wait_after(Failure(Outcome.OVERLOADED, "busy"), spent, NOON) == Wait(5)
    assert wait_after(Failure(Outcome.SERVER_ERROR, "broke"), None, NOON) is None
