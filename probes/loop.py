"""Loop: the engine's event loop, which knows since when it may have been deaf to its sockets."""

import asyncio
import os
import selectors
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Ear(selectors.DefaultSelector):
    """The selector of the engine's loop.

    ``deaf_since_ns`` (monotonic) is the earliest instant at which what is being read now can have become readable.
    While the loop runs its callbacks it does not listen; what comes then is found by the look that begins the next
    selection. Where that finds nothing, what ends the wait has just come: before now by as long as the system kept
    this thread waiting for a processor, which Linux counts, but not before the look.
    """

    def __init__(self) -> None:
        super().__init__()
        self._queue = _RunQueue()
        self.deaf_since_ns = self._heard_ns = time.monotonic_ns()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As the selector's own."""
        may_wait = timeout is None or timeout > 0
        queued = self._queue.waited_ns() if may_wait else 0
        asked = time.monotonic_ns()
        ready = super().select(0)
        if ready or not may_wait:  # it only looked, at some time after it was asked to
            self.deaf_since_ns, self._heard_ns = self._heard_ns, asked
            return ready
        ready = super().select(timeout)
        woke = time.monotonic_ns() - (self._queue.waited_ns() - queued)
        self.deaf_since_ns = self._heard_ns = max(asked, woke)
        return ready

    def close(self) -> None:
        """Select no more."""
        super().close()
        self._queue.close()


class _RunQueue:
    """How long this thread has been ready to run and did not, for want of a processor.

    ``/proc/thread-self/schedstat`` holds nanoseconds on a processor, nanoseconds waiting for one, and turns (Linux,
    Documentation/scheduler/sched-stats.rst). Where there is no such file nothing is known and 0 is told.
    """

    def __init__(self) -> None:
        try:
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self._file = -1

    def waited_ns(self) -> int:
        """In all, so far."""
        try:
            return int(os.pread(self._file, 64, 0).split()[1]) if self._file >= 0 else 0
        except (OSError, IndexError, ValueError):
            return 0

    def close(self) -> None:
        """Ask no more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class EngineLoop(asyncio.SelectorEventLoop):
    """asyncio's selector loop with an `Ear`."""

    def __init__(self) -> None:
        self.ear = Ear()
        super().__init__(self.ear)


def ear(loop: asyncio.AbstractEventLoop) -> Ear | None:
    """The ear of a loop; None where it is not an `EngineLoop`."""
    return loop.ear if isinstance(loop, EngineLoop) else None


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run an engine's main coroutine on a loop of this kind; as `asyncio.run` otherwise."""
    with asyncio.Runner(loop_factory=EngineLoop) as runner:
        return runner.run(main)
