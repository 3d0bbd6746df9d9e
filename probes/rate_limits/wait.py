"""Wait: how long an endpoint that refused is to be left alone, by all that its provider said; pure."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from probes.events import Failure
from probes.outcome import LIMITED, Outcome
from probes.rate_limits.headers import LONGEST_RESET_S, UPSTREAM, WINDOWS, Bucket, RateLimits
from probes.rate_limits.refused_bucket import SAID_LIMIT, NamedLimit, named

CLOSED_S: Final = 6 * 3600.0
"""Where nothing is allowed at all (a limit of 0): somebody has to open it first."""

_DAY_S: Final = 86400.0
_SPANS_S: Final = {"hour": 3600.0, "day": _DAY_S}
_NEARLY: Final = 0.95
"""A bucket that says, empty, that it takes nearly all of its window to be full fills up steadily, and has room again
long before that: what the provider itself says then holds (Groq's and OpenAI's requests per day)."""

_CALENDAR: Final = {"day": "the day's quota", "month": "the month's quota"}
"""Windows that end at midnight, at the latest: a month's quota is looked at once a day, for it may have been raised."""

_INSTANT: Final = re.compile(
    r"\b(?:access|resets?|again|until|available)\b[^\d\n]{0,20}(\d{4}-\d\d-\d\d)(?: at |T| )(\d\d:\d\d(?::\d\d)?)"
    r"(?:\.\d{1,9})?(?: ?UTC| ?GMT|Z)\b",
    re.IGNORECASE,
)
"""``You will regain access on 2026-09-01 at 00:00 UTC`` (Anthropic), ``Limit resets at: 2025-11-22 10:20:30 UTC``
(LiteLLM)."""

_PACIFIC_STANDARD: Final = timezone(timedelta(hours=-8))
"""What stands for Pacific time where the system has no time zones: midnight is at most an hour late."""


class Wait(NamedTuple):
    """``seconds`` from now, and ``why`` in words; empty where the provider said no more than how long."""

    seconds: float
    why: str = ""


def asked_wait(trouble: Failure, limits: RateLimits | None, now_epoch_s: float) -> Wait | None:
    """How long to wait after a trouble that came at ``now_epoch_s``; None where nothing tells.

    It is the longest of what was said: the wait that is asked for, and where a limit or a quota refused, the reset
    of every bucket that is empty, and the end of the day whose quota is used up. A bucket with something in it does not
    matter.
    """
    said = [one for one in (trouble.retry_after_s, limits.retry_after_s if limits else None) if one is not None]
    asked = Wait(max(said)) if said else None
    if trouble.outcome not in LIMITED:
        return asked
    empty = [one for one in limits.buckets if one.remaining == 0 or one.limit == 0] if limits else []
    said_in_words = trouble.said or trouble.detail
    words = named(said_in_words)
    if trouble.outcome is Outcome.QUOTA:  # as a rule credit, which no bucket of a minute brings back
        empty = [one for one in empty if one.limit == 0 or _window(one, words) in _CALENDAR]
    waits = [wait for one in empty if (wait := _until_refilled(one, words, asked, now_epoch_s))]
    window = words.window
    if until := _until_named(said_in_words, now_epoch_s):
        waits.append(until)
    if trouble.closed:
        waits.append(Wait(CLOSED_S, "its limit is 0, nothing is allowed"))
    elif trouble.day_zone is not None or (window in _CALENDAR and not waits and asked is None):
        waits.append(_until_midnight(window, trouble.day_zone, now_epoch_s))
    longest = max(waits, key=lambda one: one.seconds, default=None)
    if longest is None or (asked is not None and asked.seconds >= longest.seconds):
        return asked
    return longest


def _until_refilled(bucket: Bucket, words: NamedLimit, asked: Wait | None, now_epoch_s: float) -> Wait | None:
    """The wait for a bucket that is empty; None where it says nothing, or less than was ``asked``."""
    window = _window(bucket, words)
    variants = {*(bucket.scope or "").split()} - WINDOWS - {UPSTREAM.strip()}
    if bucket.limit == 0 and (asked is None or variants):  # Azure has a 0 where there is no limit
        return Wait(CLOSED_S, f"the limit of {bucket.words} is 0, nothing is allowed")
    if bucket.reset_s is None:
        ends_at_midnight = window == "month" or (window == "day" and asked is None)
        return _until_midnight(window, None, now_epoch_s) if ends_at_midnight else None
    if asked is not None and bucket.reset_s >= _NEARLY * _SPANS_S.get(window or "", float("inf")):
        return None
    return Wait(bucket.reset_s, f"{bucket.words} used up")


def _until_named(said: str, now_epoch_s: float) -> Wait | None:
    """Until the instant at which the words say that access comes back."""
    hit = _INSTANT.search(said[:SAID_LIMIT])
    if hit is None:
        return None
    try:
        instant = datetime.fromisoformat(f"{hit[1]} {hit[2]}").replace(tzinfo=UTC)
    except ValueError:
        return None
    seconds = instant.timestamp() - now_epoch_s
    return Wait(seconds, f"until {hit[1]} {hit[2]} UTC") if 0 < seconds <= LONGEST_RESET_S else None


def _window(bucket: Bucket, words: NamedLimit) -> str | None:
    """What a bucket is counted over: what the words of the refusal say of such a one, else what it says itself.

    Headers of one name are about a minute here and about a day there (OpenAI's requests).
    """
    own = next((one for one in (bucket.scope or "").split() if one in WINDOWS), None)
    if words.window and (words.kind == bucket.kind or (words.kind is None and own is None)):
        return words.window
    return own


def _until_midnight(window: str | None, zone: str | None, now_epoch_s: float) -> Wait:
    """Until the day ends in a time zone, by its IANA name; in UTC where none is known."""
    place, name = _zone(zone)
    now = datetime.fromtimestamp(now_epoch_s, place)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    # in UTC: two instants of one zone are subtracted by their clocks, and in some nights these are set
    seconds = (midnight.astimezone(UTC) - now.astimezone(UTC)).total_seconds()
    return Wait(seconds, f"{_CALENDAR.get(window or '', _CALENDAR['day'])}, until 00:00 {name}")


def _zone(name: str | None) -> tuple[tzinfo, str]:
    """A time zone, and what people call it."""
    if name is None:
        return UTC, "UTC"
    called = "Pacific time" if name == "America/Los_Angeles" else name
    try:
        return ZoneInfo(name), called
    except (ZoneInfoNotFoundError, ValueError):
        return _PACIFIC_STANDARD, called
