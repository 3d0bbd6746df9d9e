"""Idle: how long a server keeps a connection over which nothing goes, as it says and as was found; pure."""

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from probes.clock import elapsed_ns

MARGIN_S: Final = 1.0
MARGIN_SHARE: Final = 0.05
"""So long before its idle limit a connection is not used any more; never more than half of the limit."""

SHORTEST_S: Final = 1.0
"""A connection that is closed sooner was not closed for idleness."""

PATIENCE: Final = 8
"""So many connections in a row are renewed ahead of a limit that was only found; the next one is left to show it."""

PROMPT_NS: Final = 50_000_000
"""A close that comes sooner after the request than this, or than two round trips, was under way before the request."""

GOODBYE_NS: Final = 100_000_000
"""What comes so shortly before the end belongs to it: a close_notify, a close frame, a 408."""


_PARAMETER: Final = re.compile(r"\b(timeout|max)\s*=\s*\"?(\d{1,9})", re.IGNORECASE)


class Idle(NamedTuple):
    """For how many seconds nothing has gone over a connection; ``closed``: until the server closed it."""

    seconds: float
    closed: bool


class ConnectionActivity:
    """Notes of one connection, kept by whoever reads and writes it. ``heard``: an answer has begun since it was asked.

    Idle time goes on while the machine sleeps, as it does for the server.
    """

    def __init__(self) -> None:
        self.heard = False
        self._asked_ns = time.monotonic_ns()
        self._ended_ns: int | None = None
        self._busy_ns = self._busy_before_ns = elapsed_ns()
        self._idle_ns = 0

    def ask(self) -> None:
        """A request is about to be written."""
        self.heard, self._asked_ns = False, time.monotonic_ns()

    def moved(self) -> None:
        """Bytes went one way or the other."""
        now = elapsed_ns()
        if now - self._busy_ns > GOODBYE_NS:
            self._busy_before_ns = self._busy_ns
        self._busy_ns = now

    def end(self, at: int | None = None) -> None:
        """It has ended, at that instant (monotonic ns) or now; only the first end is one."""
        if self._ended_ns is None:
            self._ended_ns = time.monotonic_ns() if at is None else at
            idle_ns = elapsed_ns() - self._busy_ns
            self._idle_ns = idle_ns if idle_ns > GOODBYE_NS else elapsed_ns() - self._busy_before_ns

    @property
    def idle(self) -> Idle:
        """How long nothing has gone over it."""
        if self._ended_ns is not None:
            return Idle(self._idle_ns / 1e9, closed=True)
        return Idle((elapsed_ns() - self._busy_ns) / 1e9, closed=False)

    def closed_unanswered_ns(self, sent_ns: int | None) -> int | None:
        """How long after a request was ``sent``, or begun, it ended unheard (ns, negative: before); else None."""
        if self._ended_ns is None or self.heard:
            return None
        return self._ended_ns - (self._asked_ns if sent_ns is None else sent_ns)


class KeepAlive(NamedTuple):
    """What a response's ``Keep-Alive`` says: the idle limit in seconds, and how many more requests are taken."""

    timeout_s: float | None = None
    requests_left: int | None = None


def keep_alive(value: str) -> KeepAlive:
    """The parameters of a ``Keep-Alive`` header (``timeout=5, max=100``: RFC 2068 §19.7.1.1, Apache, Node.js)."""
    told = {name.lower(): int(number) for name, number in _PARAMETER.findall(value)}
    return KeepAlive(float(told["timeout"]) if "timeout" in told else None, told.get("max"))


def was_idle_close(after_ns: int, round_trip_ns: int) -> bool:
    """Whether a server that closed a kept connection so long after a request was sent cannot have known of it.

    ``after_ns`` is negative where it closed before.
    """
    return after_ns <= max(2 * round_trip_ns, PROMPT_NS)


@dataclass(frozen=True, slots=True)
class IdleLimit:
    """How long (s) a server keeps an idle connection: ``announced_s`` in its newest response, ``observed_s`` by us.

    What a server says is kept to. What was found may have been chance (a restart): a connection that is found open
    later than that refutes it, and after ``patience`` renewals one connection is not renewed, to see whether it closes
    again; where it does, the patience is doubled.
    """

    announced_s: float | None = None
    observed_s: float | None = None
    patience: int = PATIENCE
    renewals: int = 0

    @property
    def shortest_s(self) -> float:
        """The shorter of the two; infinite where none is known."""
        return min((one for one in (self.announced_s, self.observed_s) if one is not None), default=math.inf)

    def is_near(self, idle_s: float) -> bool:
        """Whether a connection that will have been idle for so long had better be renewed before."""
        found = self.observed_s if self.renewals < self.patience else None
        return any(idle_s >= limit - _margin(limit) for limit in (self.announced_s, found) if limit is not None)

    def told(self, headers: Mapping[str, str]) -> "IdleLimit":
        """With what a response's headers (names in lower case) say of it."""
        return replace(self, announced_s=keep_alive(headers.get("keep-alive", "")).timeout_s)

    def seen(self, idle: Idle) -> "IdleLimit":
        """With what became of a kept connection: it is still open after so long, or was closed."""
        if idle.closed and idle.seconds < SHORTEST_S:
            return self
        if idle.closed:
            patience = 2 * self.patience if self.renewals >= self.patience else self.patience
            observed_s = idle.seconds if self.observed_s is None else min(idle.seconds, self.observed_s)
            return replace(self, observed_s=observed_s, patience=patience, renewals=0)
        if self.observed_s is not None and idle.seconds > self.observed_s + _margin(self.observed_s):
            return IdleLimit(self.announced_s)
        return self

    def renewed(self) -> "IdleLimit":
        """With one more connection renewed ahead of it."""
        return replace(self, renewals=self.renewals + 1)


def _margin(limit_s: float) -> float:
    return min(max(MARGIN_S, limit_s * MARGIN_SHARE), limit_s / 2)
