"""Loop: the engine's event loop, which knows since when it may have been deaf to its sockets."""

import asyncio
import contextlib
import os
import select
import selectors
import sys
import time
from collections.abc import Callable, Coroutine
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from probes.sockets.decode_queue import DecodeQueue
from probes.sockets.linux import RunQueue
from probes.sockets.receive_timestamps import stamping_socket
from probes.sockets.uring_reader import UringReceiver

T = TypeVar("T")


class HasFileno(Protocol):
    """What a selector can be asked to hear."""

    def fileno(self) -> int:
        """The number of its file."""
        ...


FileObject = int | HasFileno


class TimestampedSelector(selectors.DefaultSelector):
    """The selector of the engine's loop.

    ``not_polling_since_ns`` (monotonic) is the earliest instant at which what is read now can have become readable.
    While the loop runs its callbacks it does not listen; what comes then is found by the look that begins the next
    selection. Where that finds nothing, what ends the wait has just come: before now by as long as the system kept
    this thread waiting for a processor, which Linux counts, but not before the look.
    """

    def __init__(self) -> None:
        super().__init__()
        self._queue = RunQueue()
        self._queued_ns = self._queue.waited_ns()
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._epoll = select.epoll.fromfd(os.dup(self.fileno())) if sys.platform.startswith("linux") else None
        self._poll = self._lean(self._epoll) if self._epoll else super().select
        self.not_polling_since_ns = self._heard_ns = time.monotonic_ns()

    def register(self, fileobj: FileObject, events: int, data: Any = None) -> selectors.SelectorKey:
        """As the selector's own."""
        key = super().register(fileobj, events, data)
        self._keys[key.fd] = key
        return key

    def modify(self, fileobj: FileObject, events: int, data: Any = None) -> selectors.SelectorKey:
        """As the selector's own."""
        key = super().modify(fileobj, events, data)
        self._keys[key.fd] = key
        return key

    def unregister(self, fileobj: FileObject) -> selectors.SelectorKey:
        """As the selector's own."""
        key = super().unregister(fileobj)
        self._keys.pop(key.fd, None)
        return key

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As the selector's own."""
        asked = time.monotonic_ns()
        ready = self._poll(0)
        if ready or (timeout is not None and timeout <= 0):  # it only looked, at some time after it was asked to
            self.not_polling_since_ns, self._heard_ns = self._heard_ns, asked
            return ready
        ready = self._poll(timeout)
        before, self._queued_ns = self._queued_ns, self._queue.waited_ns()
        woke = time.monotonic_ns() - (self._queued_ns - before)
        self.not_polling_since_ns = self._heard_ns = max(asked, woke)
        return ready

    def poll_ready(self) -> bool:
        """Whether there is something to read now; looking for it is listening, too."""
        asked = time.monotonic_ns()
        if self._poll(0):
            return True
        self._heard_ns = asked
        return False

    def _lean(self, epoll: Any) -> Callable[[float | None], list[tuple[selectors.SelectorKey, int]]]:
        """As the selector's own `select`: what that does around the system call costs as much as the call."""
        poll, keys, not_write, not_read = epoll.poll, self._keys, ~select.EPOLLOUT, ~select.EPOLLIN

        def lean(timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
            return [
                (key, key.events & (bool(event & not_write) | bool(event & not_read) << 1))
                for fd, event in poll(timeout)
                if (key := keys.get(fd))
            ]

        return lean

    def close(self) -> None:
        """Select no more."""
        if self._epoll is not None:
            self._epoll.close()
        super().close()
        self._queue.close()


class ReaderKind(StrEnum):
    """Who takes from a socket what has come."""

    REAL_TIME = "the kernel, in real time"
    KERNEL = "the kernel"
    LOOP = "the engine's loop"


class EngineLoop(asyncio.SelectorEventLoop):
    """asyncio's selector loop with a `TimestampedSelector`, and a `UringReceiver` where the system has io_uring."""

    def __init__(self, *, use_io_uring: bool = True) -> None:
        self.selector = TimestampedSelector()
        super().__init__(self.selector)
        self.ring: UringReceiver | None = None
        self._stamped = stamping_socket()
        if use_io_uring:
            with contextlib.suppress(OSError):
                self.ring = UringReceiver(self)
        self.decode_queue = DecodeQueue(self, self.selector.poll_ready if self.ring is None else lambda: False)

    def close(self) -> None:
        """As any loop's own."""
        if self.ring is not None and not self.is_closed():
            self.ring.close()
        self._stamped.close()
        super().close()


def timestamped_selector(loop: asyncio.AbstractEventLoop) -> TimestampedSelector | None:
    """The ear of a loop; None where it is not an `EngineLoop`."""
    return loop.selector if isinstance(loop, EngineLoop) else None


def decode_queue(loop: asyncio.AbstractEventLoop) -> DecodeQueue:
    """The backlog of a loop; one for whoever asks where it is not an `EngineLoop`."""
    return loop.decode_queue if isinstance(loop, EngineLoop) else DecodeQueue(loop)


def reader_kind(loop: asyncio.AbstractEventLoop) -> ReaderKind:
    """Who reads sockets on a loop."""
    if not isinstance(loop, EngineLoop) or loop.ring is None:
        return ReaderKind.LOOP
    return ReaderKind.REAL_TIME if loop.ring.real_time else ReaderKind.KERNEL


async def let_others_read() -> None:
    """One turn of the loop: work of a millisecond in one piece is a millisecond's doubt for every other probe."""
    await asyncio.sleep(0)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run an engine's main coroutine on a loop of this kind; as `asyncio.run` otherwise."""
    with asyncio.Runner(loop_factory=EngineLoop) as runner:
        return runner.run(main)
