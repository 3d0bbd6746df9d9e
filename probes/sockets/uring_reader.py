"""Ring: many sockets read by the kernel itself, while this process computes, waits for Python's lock or sleeps."""

import asyncio
import contextlib
import errno
import itertools
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from probes.sockets.connection_timing import Stamp
from probes.sockets.io_uring import DATA_SIZE, Completion, Uring
from probes.sockets.linux import RunQueue, request_realtime_priority
from probes.sockets.receive_timestamps import OLDEST_STAMP_NS, ClockOffset

GATHER_S: Final = 0.01
"""How long arrivals that come thick are left in the ring: each is stamped, and waking for each costs more than it."""

THICK_NS: Final = 5_000_000
"""Arrivals closer together than this are thick."""

FEW: Final = 4
"""So many of them while they were gathered are thick no more."""

Arrive = Callable[[Stamp, bytes], None]


class UringReceiver:
    """Hands each of its intakes what the kernel has read for it, on the loop that it was made on.

    The kernel reads in the name of a thread that does nothing else, so that it need not wait until this process is
    done with something; where the system allows it a thread of real-time priority, ``real_time``, so that it need not
    wait for other processes either. Raises OSError where there is no `Uring`.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.real_time = False
        self._loop = loop
        self._uring = Uring()
        self._clock = ClockOffset()
        self._intakes: dict[int, UringReader] = {}
        self._tags = itertools.count(1)
        self._arrived: deque[tuple[Completion, Stamp]] = deque()
        self._looked_ns = time.monotonic_ns()
        self._newest_ns = 0
        self._haste = 0
        self._gathering: asyncio.TimerHandle | None = None
        self._orders: deque[Callable[[], None] | None] = deque()
        self._ordered = os.eventfd(0, os.EFD_CLOEXEC)
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._obey, name="reader", daemon=True)
        self._thread.start()
        self._begun.wait()
        self._queue = RunQueue(self._thread.native_id)
        self._queued_ns = self._queue.waited_ns()
        loop.add_reader(self._uring.bell, self._rung)

    def join(self, one: "UringReader") -> int:
        """Take in an intake: the tag by which it is known."""
        tag = next(self._tags)
        self._intakes[tag] = one
        return tag

    def leave(self, tag: int) -> None:
        """Hand it nothing more."""
        self._intakes.pop(tag, None)

    def begin(self, tag: int, sock: socket.socket, nth: int) -> None:
        """Have a socket read for an intake, its ``nth`` time."""
        self._order(partial(self._receive, tag, os.dup(sock.fileno()), nth))

    def end(self, tag: int) -> None:
        """Have it read no more."""
        self._order(partial(self._cancel, tag))

    def hasten(self, by: int) -> None:
        """So many more, or fewer, want to know at once what comes."""
        self._haste += by
        if self._haste and self._gathering is not None:
            self._gathering.cancel()
            self._gathered()

    def look(self) -> int:
        """Hand over what has come, but never so much that others would wait for long; how much that was."""
        found = self._uring.arrivals()
        if found:
            before, now = self._looked_ns, time.monotonic_ns()
            stepped = self._clock.stepped(now)
            queued_ns = self._queue.waited_ns()
            waited = queued_ns - self._queued_ns
            for one in found:
                at = now if one.wall_ns is None or stepped else self._clock.monotonic(one.wall_ns)
                kernel = one.wall_ns is not None and not stepped and at <= now
                at, uncertainty_ns = (at, waited) if kernel else (now, now - before)
                self._newest_ns = max(self._newest_ns, at)
                self._arrived.append((one, Stamp(at, uncertainty_ns, 0 if kernel else uncertainty_ns, kernel)))
            if not self._uring.waiting:  # what is left may have come since the look before this one
                self._looked_ns, self._queued_ns = now, queued_ns
        while self._arrived:
            arrival, stamp = self._arrived.popleft()
            if (intake := self._intakes.get(arrival.tag)) is not None:
                intake.heard(arrival, stamp)
        return len(found)

    def close(self) -> None:
        """Read nothing any more."""
        if self._gathering is not None:
            self._gathering.cancel()
        self._order(None)
        self._thread.join()
        self._loop.remove_reader(self._uring.bell)
        self._uring.close()
        self._queue.close()
        os.close(self._ordered)

    def _rung(self) -> None:
        os.read(self._uring.bell, 8)
        before = self._newest_ns
        found = self.look()
        thick = found > 1 or (found == 1 and self._newest_ns - before < THICK_NS)
        if self._gathering is not None:
            return
        if self._uring.waiting:
            self._gathering = self._loop.call_later(0, self._gathered)
        elif thick and not self._haste:
            self._uring.mute(silent=True)
            self._gathering = self._loop.call_later(GATHER_S, self._gathered)

    def _gathered(self) -> None:
        self._gathering = None
        if self.look() > FEW and not self._haste:
            self._gathering = self._loop.call_later(0 if self._uring.waiting else GATHER_S, self._gathered)
            return
        self._uring.mute(silent=False)
        self.look()
        if self._uring.waiting:
            self._gathering = self._loop.call_later(0, self._gathered)

    def _order(self, order: Callable[[], None] | None) -> None:
        self._orders.append(order)
        os.eventfd_write(self._ordered, 1)

    def _obey(self) -> None:
        """The reading thread: it carries out orders, and the kernel interrupts its waiting to read."""
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self.real_time = request_realtime_priority()
        self._begun.set()
        while True:
            os.read(self._ordered, 8)
            while self._orders:
                order = self._orders.popleft()
                if order is None:
                    return
                order()

    def _receive(self, tag: int, file: int, nth: int) -> None:
        try:
            self._uring.receive(tag, file)
        except OSError as error:
            self._loop.call_soon_threadsafe(self._refused, tag, error)
        finally:
            os.close(file)
        if (intake := self._intakes.get(tag)) is not None:
            intake.armed = nth, time.monotonic_ns()

    def _cancel(self, tag: int) -> None:
        with contextlib.suppress(OSError):  # it goes on reading, then, until the other side ends
            self._uring.cancel(tag)

    def _refused(self, tag: int, error: OSError) -> None:
        if (intake := self._intakes.get(tag)) is not None:
            intake.heard(Completion(tag, b"", None, error.errno or errno.EIO, more=False), Stamp(time.monotonic_ns()))


class UringReader:
    """An `Intake` whose socket is read by a ring.

    ``armed``: how often the kernel has been asked to read, and when it had begun to, at the latest. Until it has been
    asked as often as it had to be, what comes may have to wait.
    """

    batches: Final = True

    def __init__(self, sock: socket.socket, ring: UringReceiver, arrive: Arrive) -> None:
        self.fault: OSError | None = None
        self.armed = 0, 0
        self._sock = sock
        self._ring = ring
        self._arrive = arrive
        self._tag = ring.join(self)
        self._asked = 0
        self._wanted = self._reading = False
        self._born_ns = self._before_ns = self._newest_ns = time.monotonic_ns()
        self._unread_since: int | None = None

    def resume_reading(self) -> None:
        """See `Intake`."""
        self._wanted = True
        self._begin()

    def pause_reading(self) -> None:
        """See `Intake`; what was read until the kernel knows of it comes all the same."""
        if self._wanted and self._reading:
            self._ring.end(self._tag)
        self._wanted = False

    def look(self) -> None:
        """See `Intake`."""
        self._ring.look()

    def hasten(self, by: int) -> None:
        """See `Intake`."""
        self._ring.hasten(by)

    def close(self) -> None:
        """See `Intake`; the kernel holds the socket as long as it reads, so closing it alone would not end it."""
        self._wanted = False
        self._ring.leave(self._tag)
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()

    def heard(self, arrival: Completion, stamp: Stamp) -> None:
        """Take what the kernel has read, or its word that it reads no more."""
        if not arrival.more:
            self._reading = False
        if arrival.data:
            self._arrive(self._sure(stamp, len(arrival.data)), arrival.data)
        elif arrival.error not in (errno.ENOBUFS, errno.ECANCELED):
            self._wanted = False
            self.fault = OSError(arrival.error, os.strerror(arrival.error)) if arrival.error else None
            self._arrive(stamp, b"")
        if self._wanted:
            self._begin()

    def _begin(self) -> None:
        if not self._reading:
            self._reading, self._unread_since = True, self._newest_ns
            self._asked += 1
            self._ring.begin(self._tag, self._sock, self._asked)

    def _sure(self, stamp: Stamp, size: int) -> Stamp:
        """With what is known of this socket: what came in this read came after what had another stamp before it.

        What lies in the kernel together has its newest stamp, in however many reads it comes; so the end of a full
        read may be as old as its beginning.
        """
        if stamp.kernel and stamp.at < self._born_ns - OLDEST_STAMP_NS:
            stamp = Stamp(time.monotonic_ns())
        uncertainty_ns, kernel = stamp.uncertainty_ns, stamp.kernel
        at = max(stamp.at, self._newest_ns)  # a segment that overtook another can be read only after that
        if not kernel:
            self._before_ns = self._newest_ns = at
            return stamp._replace(at=at)
        if at > self._newest_ns:
            self._before_ns, self._newest_ns = self._newest_ns, at
        if self._unread_since is not None:
            asked, armed_ns = self.armed
            if asked < self._asked or at <= armed_ns:
                uncertainty_ns = at - self._unread_since
            else:
                self._unread_since = None
        uncertainty_ns = max(0, min(uncertainty_ns or 0, at - self._before_ns))
        return Stamp(at, uncertainty_ns, uncertainty_ns if size == DATA_SIZE else 0, kernel)
