"""The rate limiter of one simulated model: token buckets for requests and for tokens per window."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

_ROUNDING: Final = 1e-9
"""Tolerance in tokens: a client that waited exactly as long as required must not be refused for a float's last bit."""

BucketName = Literal["requests", "tokens"]


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a model grants in each window (seconds); None is no limit."""

    requests: int | None = None
    tokens: int | None = None
    requests_window_s: float = 60.0
    tokens_window_s: float = 60.0


@dataclass(frozen=True, slots=True)
class BucketLevel:
    """How full one bucket is; ``reset_s`` is the time until it is full again."""

    limit: int
    remaining: int
    reset_s: float


@dataclass(frozen=True, slots=True)
class Admission:
    """A limiter's decision on one request: which bucket refused it if any, the wait, and the levels of all after it."""

    refused_by: BucketName | None = None
    retry_after_s: float = 0.0
    requests: BucketLevel | None = None
    tokens: BucketLevel | None = None


class TokenBucket:
    """A token bucket: holds ``capacity``, refills evenly at ``capacity`` per ``window_s``; starts full."""

    def __init__(self, capacity: int, window_s: float, clock: Callable[[], float]) -> None:
        self._capacity = capacity
        self._rate_per_s = capacity / window_s
        self._clock = clock
        self._held = float(capacity)
        self._filled_at = clock()

    def wait_s(self, amount: float) -> float:
        """Seconds until ``amount`` can be taken, 0: now; at least 1 for more than the capacity, which never fits."""
        self._fill()
        if amount > self._capacity:
            return max(1.0, (self._capacity - self._held) / self._rate_per_s)
        missing = amount - self._held
        return missing / self._rate_per_s if missing > _ROUNDING else 0.0

    def take(self, amount: float) -> None:
        """Take ``amount``, for which `wait_s` has just returned 0."""
        self._held -= amount

    def level(self) -> BucketLevel:
        """The level now."""
        self._fill()
        return BucketLevel(self._capacity, int(self._held), (self._capacity - self._held) / self._rate_per_s)

    def _fill(self) -> None:
        now = self._clock()
        self._held = min(self._capacity, self._held + (now - self._filled_at) * self._rate_per_s)
        self._filled_at = now


class Limiter:
    """The buckets of one model. Like real limiters it reserves the whole output cap of a request before it runs."""

    def __init__(self, allowance: Allowance, clock: Callable[[], float] = time.monotonic) -> None:
        self._requests = (
            None if allowance.requests is None else TokenBucket(allowance.requests, allowance.requests_window_s, clock)
        )
        self._tokens = (
            None if allowance.tokens is None else TokenBucket(allowance.tokens, allowance.tokens_window_s, clock)
        )

    def admit(self, tokens: int) -> Admission:
        """Take one request of ``tokens`` (prompt and output cap) out of the buckets, or say which one refuses it."""
        amounts: list[tuple[BucketName, TokenBucket, int]] = []
        if self._requests is not None:
            amounts.append(("requests", self._requests, 1))
        if self._tokens is not None:
            amounts.append(("tokens", self._tokens, tokens))
        waits = [(bucket.wait_s(amount), name) for name, bucket, amount in amounts]
        wait_s, refused_by = max(waits, default=(0.0, None))
        if not wait_s:
            refused_by = None
            for _, bucket, amount in amounts:
                bucket.take(amount)
        return replace(self.levels(), refused_by=refused_by, retry_after_s=wait_s)

    def levels(self) -> Admission:
        """The levels now, with nothing taken."""
        return Admission(
            requests=None if self._requests is None else self._requests.level(),
            tokens=None if self._tokens is None else self._tokens.level(),
        )
