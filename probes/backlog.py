"""Backlog: reads that were stamped and wait to be decoded, off the clock."""

import asyncio
import time
from collections import deque
from typing import Final, Protocol

WAIT_S: Final = 0.02
"""How long reads that come thick are gathered: decoding many at once costs half of decoding each on its own."""

THICK_NS: Final = 5_000_000
"""Reads closer together than this are thick."""

PIECE_NS: Final = 100_000
"""Decoding stops after so long and lets the loop listen: what comes meanwhile may be merged by the kernel."""


class Worker(Protocol):
    """Who has reads that wait."""

    def work(self) -> bool:
        """Decode one of them; whether there are more."""
        ...


class Backlog:
    """Whose reads wait to be decoded, on one loop, so that all of them together never hold it long."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Worker] = deque()
        self._last_ns = 0
        self._due: asyncio.TimerHandle | None = None

    def is_thin(self, at: int) -> bool:
        """Whether a read made at ``at`` (monotonic ns), the next one, may as well be decoded at once."""
        before, self._last_ns = self._last_ns, at
        return at - before > THICK_NS

    def add(self, worker: Worker, *, soon: bool) -> None:
        """Have one who had nothing to decode, and now does, decode: ``soon``, or when more has gathered."""
        self._waiting.append(worker)
        if soon and self._due is not None:
            self._due.cancel()
            self._due = None
        if self._due is None:
            self._due = self._loop.call_later(0 if soon else WAIT_S, self._work)

    def _work(self) -> None:
        until = time.monotonic_ns() + PIECE_NS
        while self._waiting:
            if not self._waiting[0].work():
                self._waiting.popleft()
            if time.monotonic_ns() > until:
                break
        self._due = self._loop.call_later(0, self._work) if self._waiting else None
