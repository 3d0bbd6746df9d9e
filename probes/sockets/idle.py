"""How long a connection has been idle, and how long its server keeps an idle one: as it says, and as was found."""

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from probes.clock import elapsed_ns

MARGIN_S: Final = 1.0
MARGIN_SHARE: Final = 0.05
"""A connection is not used any more from this long before its idle limit on (whichever is more); at most half of it."""

SHORTEST_S: Final = 1.0
"""A connection that was closed sooner was not closed for being idle."""

RENEWALS_BEFORE_TEST: Final = 8
"""How many connections in a row are renewed ahead of a limit that was only observed; the next one tests it."""

PROMPT_NS: Final = 50_000_000
"""A close that is received sooner after the request than this, or than two round trips, was sent before it arrived."""

GOODBYE_NS: Final = 100_000_000
"""What is received so shortly before the end belongs to it: a close_notify, a close frame, a 408."""

_PARAMETER: Final = re.compile(r"\b(timeout|max)\s*=\s*\"?(\d{1,9})", re.IGNORECASE)


class Idle(NamedTuple):
    """How many seconds nothing has gone over a connection: until now, or, ``closed``, until the server closed it."""

    seconds: float
    closed: bool


class ConnectionActivity:
    """When one connection was last used, asked and ended, as its stream and its transport note it.

    ``answered``: something of an answer has been received since the newest request. Idle time goes on while the machine
    sleeps, as it does for the server.
    """

    def __init__(self) -> None:
        self.answered = False
        self._asked_ns = time.monotonic_ns()
        self._ended_ns: int | None = None
        self._used_ns = self._used_before_ns = elapsed_ns()
        self._idle_ns = 0

    def note_request(self) -> None:
        """A request is about to be written."""
        self.answered, self._asked_ns = False, time.monotonic_ns()

    def note_bytes(self) -> None:
        """Bytes were sent or received."""
        now = elapsed_ns()
        if now - self._used_ns > GOODBYE_NS:
            self._used_before_ns = self._used_ns
        self._used_ns = now

    def note_end(self, at: int | None = None) -> None:
        """The connection ended ``at`` (monotonic ns), or now. Only the first call counts."""
        if self._ended_ns is None:
            self._ended_ns = time.monotonic_ns() if at is None else at
            idle_ns = elapsed_ns() - self._used_ns
            self._idle_ns = idle_ns if idle_ns > GOODBYE_NS else elapsed_ns() - self._used_before_ns

    @property
    def idle(self) -> Idle:
        """How long nothing has been sent or received, to the end or until now."""
        if self._ended_ns is not None:
            return Idle(self._idle_ns / 1e9, closed=True)
        return Idle((elapsed_ns() - self._used_ns) / 1e9, closed=False)

    def closed_unanswered_ns(self, sent_ns: int | None) -> int | None:
        """How long (ns) after the newest request it ended without an answer; None if open or answered.

        ``sent_ns`` is when the request was sent (monotonic ns; None: count from when it was begun). Negative: the end
        came before that.
        """
        if self._ended_ns is None or self.answered:
            return None
        return self._ended_ns - (self._asked_ns if sent_ns is None else sent_ns)


class KeepAlive(NamedTuple):
    """What a response's ``Keep-Alive`` header says: the idle limit (s), and how many more requests are accepted."""

    timeout_s: float | None = None
    requests_left: int | None = None


def keep_alive(value: str) -> KeepAlive:
    """The parameters of a ``Keep-Alive`` header (``timeout=5, max=100``: RFC 2068 §19.7.1.1, Apache, Node.js)."""
    found = {name.lower(): int(number) for name, number in _PARAMETER.findall(value)}
    return KeepAlive(float(found["timeout"]) if "timeout" in found else None, found.get("max"))


def was_idle_close(after_ns: int, round_trip_ns: int) -> bool:
    """Whether a server closed a kept connection for idleness, before it can have known of the newest request.

    ``after_ns`` is how long after the request was sent the close was received, negative where it was before.
    """
    return after_ns <= max(2 * round_trip_ns, PROMPT_NS)


@dataclass(frozen=True, slots=True)
class IdleLimit:
    """How long a server keeps an idle connection, in seconds: as its newest response announced, and as was observed.

    What a server announces is kept to. What was observed may have been chance (a restart): a connection that is found
    open later than that refutes it, and after ``renewals_before_test`` renewals one connection is not renewed, to see
    whether it is closed again; where it is, the next test comes after twice as many. ``renewals``: since the last one.
    """

    announced_s: float | None = None
    observed_s: float | None = None
    renewals_before_test: int = RENEWALS_BEFORE_TEST
    renewals: int = 0

    @property
    def shortest_s(self) -> float:
        """The shorter of the two limits; infinite where none is known."""
        return min((one for one in (self.announced_s, self.observed_s) if one is not None), default=math.inf)

    def is_near(self, idle_s: float) -> bool:
        """Whether a connection should be renewed rather than used after having been idle for ``idle_s`` seconds."""
        observed_s = self.observed_s if self.renewals < self.renewals_before_test else None
        return any(idle_s >= limit - _margin(limit) for limit in (self.announced_s, observed_s) if limit is not None)

    def with_headers(self, headers: Mapping[str, str]) -> "IdleLimit":
        """With the limit that a response's headers (names in lower case) announce, or none."""
        return replace(self, announced_s=keep_alive(headers.get("keep-alive", "")).timeout_s)

    def with_observation(self, idle: Idle) -> "IdleLimit":
        """With what was observed of a kept connection: after so long it was still open, or was closed."""
        if idle.closed and idle.seconds < SHORTEST_S:
            return self
        if idle.closed:
            renewals_before_test = (
                2 * self.renewals_before_test
                if self.renewals >= self.renewals_before_test
                else self.renewals_before_test
            )
            observed_s = idle.seconds if self.observed_s is None else min(idle.seconds, self.observed_s)
            return replace(self, observed_s=observed_s, renewals_before_test=renewals_before_test, renewals=0)
        if self.observed_s is not None and idle.seconds > self.observed_s + _margin(self.observed_s):
            return IdleLimit(self.announced_s)
        return self

    def with_renewal(self) -> "IdleLimit":
        """With one more connection renewed ahead of the limit."""
        return replace(self, renewals=self.renewals + 1)


def _margin(limit_s: float) -> float:
    return min(max(MARGIN_S, limit_s * MARGIN_SHARE), limit_s / 2)
