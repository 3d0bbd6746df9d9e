"""Traffic: when bytes last went over a connection, when it was asked last, and when it ended."""

import time
from typing import Final

from probes.clock import elapsed_ns
from probes.sockets.idle import Idle

GOODBYE_NS: Final = 100_000_000
"""What comes so shortly before the end belongs to it: a close_notify, a close frame, a 408."""


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

    def hung_up(self, sent_ns: int | None) -> int | None:
        """How long after a request was ``sent``, or begun, it ended unheard (ns, negative: before); else None."""
        if self._ended_ns is None or self.heard:
            return None
        return self._ended_ns - (self._asked_ns if sent_ns is None else sent_ns)
