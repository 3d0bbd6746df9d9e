"""Reads that have their timestamp and wait to be decoded: whose turn it is, and who consumes what was decoded."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from probes.sockets.connection_timing import Stamp

BATCH_S: Final = 0.02
"""How long the reads of a burst are gathered: decoding many at once costs half of decoding each on its own."""

BURST_NS: Final = 5_000_000
"""Reads closer together than this are a burst."""

POLL_NS: Final = 50_000
"""After so long the sockets are polled: what comes while nobody reads may be merged by the kernel."""

TURN_NS: Final = 1_000_000
"""After so long the loop goes on, whether or not there is anything to read."""

OnData = Callable[[Stamp, bytes], bool]
"""Called with the data of one read, or a piece of it; returns whether it wants more."""


@dataclass(slots=True)
class Consumer:
    """A callback, and ``done``: a future that is resolved when the callback wants no more, or nothing more can come.

    ``satisfied``: it wanted no more. With ``allow_batching`` its data need not be delivered at once.
    """

    on_data: OnData
    done: "asyncio.Future[None]"
    allow_batching: bool = False
    satisfied: bool = False

    def deliver(self, stamp: Stamp, data: bytes) -> None:
        """Call the callback. What it raises is raised where ``done`` is awaited."""
        try:
            self.satisfied = not self.on_data(stamp, data)
        except Exception as error:
            self.satisfied = True
            self.done.set_exception(error)
        else:
            if self.satisfied:
                self.done.set_result(None)


class PendingReads(Protocol):
    """Reads of one connection that wait to be decoded."""

    def decode_next(self) -> bool:
        """Decode one pending piece. True if more are pending."""
        ...


class DecodeQueue:
    """The connections of one loop that have reads to decode, in turn.

    They take turns of one piece each: a flooded connection delays the others by no more than its own pieces. All of
    them together never keep the loop from reading: ``poll_ready`` says whether there is something to read now.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, poll_ready: Callable[[], bool] = lambda: True) -> None:
        self._loop = loop
        self._poll_ready = poll_ready
        self._waiting: deque[PendingReads] = deque()
        self._last_read_ns = 0
        self._due: asyncio.Handle | None = None

    def note_read(self, at: int) -> bool:
        """Note that a read was made at ``at`` (monotonic ns); whether it stands alone, and may be decoded at once."""
        before, self._last_read_ns = self._last_read_ns, at
        return at - before > BURST_NS

    def add(self, connection: PendingReads, *, soon: bool) -> None:
        """Queue one that was not queued: ``soon``, or when more has gathered."""
        self._waiting.append(connection)
        if soon and self._due is not None:
            self._due.cancel()
            self._due = None
        if self._due is None:
            self._due = self._loop.call_soon(self._decode) if soon else self._loop.call_later(BATCH_S, self._decode)

    def _decode(self) -> None:
        now = time.monotonic_ns()
        poll_at, leave_at = now + POLL_NS, now + TURN_NS
        while self._waiting:
            connection = self._waiting.popleft()
            if connection.decode_next():
                self._waiting.append(connection)
            now = time.monotonic_ns()
            if now > poll_at:
                if now > leave_at or self._poll_ready():
                    break
                poll_at = now + POLL_NS
        self._due = self._loop.call_soon(self._decode) if self._waiting else None
