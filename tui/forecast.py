"""Forecast: when a rate-limit bucket will be empty if it is used on at the observed pace; pure."""

from collections.abc import Sequence
from typing import Final

from probes.ratelimit import Bucket

LEAST_READINGS: Final = 3
"""Two readings are one probe's use, and that is no pace."""

_WINDOWS_S: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "month": 31 * 86_400}


def empty_at(readings: Sequence[tuple[int, Bucket]]) -> int | None:
    """The instant (ms since the epoch) at which the bucket will be empty; None where it is not foreseeable, or lasts.

    ``readings`` are (instant in ms since the epoch, bucket) of one and the same bucket, oldest first. The pace is what
    was used per time since the bucket last grew or its limit changed. A bucket that is full again before it would be
    empty lasts; where its reset is not told, it is full again after the window it is counted over.
    """
    if not readings:
        return None
    now, last = readings[-1]
    if last.remaining is None or last.remaining <= 0:
        return None
    first, begin, count = last.remaining, now, 1
    for at, earlier in reversed(readings[:-1]):
        if earlier.remaining is None or earlier.limit != last.limit or earlier.remaining < first:
            break
        first, begin, count = earlier.remaining, at, count + 1
    used = first - last.remaining
    if count < LEAST_READINGS or used <= 0 or now <= begin:
        return None
    wait_ms = last.remaining / used * (now - begin)
    lasts_s = last.reset_s if last.reset_s is not None else _WINDOWS_S.get((last.scope or "").partition(" ")[0])
    return None if lasts_s is not None and wait_ms >= lasts_s * 1000 else now + round(wait_ms)
