"""Backlog: reads that were stamped and wait to be decoded, off the clock."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from probes.sockets.connection_timing import Stamp

WAIT_S: Final = 0.02
"""How long reads that come thick are gathered: decoding many at once costs half of decoding each on its own."""

THICK_NS: Final = 5_000_000
"""Reads closer together than this are thick."""

PIECE_NS: Final = 50_000
"""After so long the sockets are looked at: what comes while nobody reads may be merged by the kernel."""

TURN_NS: Final = 1_000_000
"""After so long the loop goes on, whether or not there is anything to read."""


OnData = Callable[[Stamp, bytes], bool]
"""Is given what one read brought, or a piece of it; whether it wants more."""


@dataclass(slots=True)
class Consumer:
    """Who is given every read; ``done`` when it is ``satisfied`` or nothing more can come."""

    take: OnData
    done: "asyncio.Future[None]"
    allow_batching: bool = False
    satisfied: bool = False

    def give(self, stamp: Stamp, data: bytes) -> None:
        """Hand one read over. What goes wrong with it is for whoever waits for ``done``."""
        try:
            self.satisfied = not self.take(stamp, data)
        except Exception as error:
            self.satisfied = True
            self.done.set_exception(error)
        else:
            if self.satisfied:
                self.done.set_result(None)


class PendingReads(Protocol):
    """Who has reads that wait."""

    def work(self) -> bool:
        """Decode a small piece of one of them; whether there is more."""
        ...


class DecodeQueue:
    """Whose reads wait to be decoded, on one loop, so that all of them together never keep it from reading.

    They take turns, a piece each: one that is flooded delays the others by no more than its own pieces.
    ``poll_ready`` looks whether there is something that this loop must read now.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, poll_ready: Callable[[], bool] = lambda: True) -> None:
        self._loop = loop
        self._hear = poll_ready
        self._waiting: deque[PendingReads] = deque()
        self._last_ns = 0
        self._due: asyncio.TimerHandle | None = None

    def is_isolated(self, at: int) -> bool:
        """Whether a read made at ``at`` (monotonic ns), the next one, may as well be decoded at once."""
        before, self._last_ns = self._last_ns, at
        return at - before > THICK_NS

    def add(self, worker: PendingReads, *, soon: bool) -> None:
        """Have one who had nothing to decode, and now does, decode: ``soon``, or when more has gathered."""
        self._waiting.append(worker)
        if soon and self._due is not None:
            self._due.cancel()
            self._due = None
        if self._due is None:
            self._due = self._loop.call_later(0 if soon else WAIT_S, self._work)

    def _work(self) -> None:
        now = time.monotonic_ns()
        look, leave = now + PIECE_NS, now + TURN_NS
        while self._waiting:
            worker = self._waiting.popleft()
            if worker.work():
                self._waiting.append(worker)
            now = time.monotonic_ns()
            if now > look:
                if now > leave or self._hear():
                    break
                look = now + PIECE_NS
        self._due = self._loop.call_later(0, self._work) if self._waiting else None
