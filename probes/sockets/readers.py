"""Intake: how the bytes of one socket come into this process, each read with its stamp and how sure that is."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Final, Protocol

from probes.sockets.connection_timing import Stamp
from probes.sockets.event_loop import EngineLoop, timestamped_selector
from probes.sockets.receive_timestamps import StampedSocket
from probes.sockets.uring_reader import UringReader

READ_SIZE: Final = 1 << 16

Arrive = Callable[[Stamp, bytes], None]
"""Is given every read, and at the end one without data."""


class SocketReader(Protocol):
    """Reads one socket while it listens. ``batches``: reads are handed over some milliseconds after they were made.

    ``fault`` is what the end was, if it was an error.
    """

    fault: OSError | None

    @property
    def batches(self) -> bool:
        """See above."""
        ...

    def resume_reading(self) -> None:
        """Read from now on, until `pause_reading` or the end."""

    def pause_reading(self) -> None:
        """Read no more: what comes stays in the kernel."""

    def look(self) -> None:
        """Hand over what was read already."""

    def hasten(self, by: int) -> None:
        """So many more, or fewer, wait for what comes and want it at once."""

    def close(self) -> None:
        """End the connection and close the socket."""


def make_reader(sock: socket.socket, arrive: Arrive) -> SocketReader:
    """The best intake that there is on the running loop: the kernel's own, or one that is told by the loop."""
    loop = asyncio.get_running_loop()
    clock = StampedSocket(sock)
    ring = loop.ring if isinstance(loop, EngineLoop) and clock.kernel else None
    return SelectorReader(sock, clock, arrive) if ring is None else UringReader(sock, ring, arrive)


class SelectorReader:
    """Reads when the loop's selector says that there is something; in doubt for as long as the loop was deaf."""

    batches: Final = False

    def __init__(self, sock: socket.socket, clock: StampedSocket, arrive: Arrive) -> None:
        self.fault: OSError | None = None
        self._sock = sock
        self._clock = clock
        self._arrive = arrive
        self._loop = asyncio.get_running_loop()
        self._ear = timestamped_selector(self._loop)
        self._left_since: int | None = None
        self._listening = False

    def resume_reading(self) -> None:
        """See `SocketReader`."""
        if not self._listening:
            self._loop.add_reader(self._sock, self._receive)
            self._listening = True

    def pause_reading(self) -> None:
        """See `SocketReader`."""
        if self._listening:
            self._loop.remove_reader(self._sock)
            self._listening = False
            self._left_since = self._deaf_since()

    def look(self) -> None:
        """See `SocketReader`."""

    def hasten(self, by: int) -> None:
        """See `SocketReader`."""

    def close(self) -> None:
        """See `SocketReader`."""
        self.pause_reading()
        self._sock.close()

    def _receive(self) -> None:
        """Take one read's worth from the socket, stamped."""
        try:
            data, at, kernel = self._clock.receive(READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.fault, data, at, kernel = error, b"", time.monotonic_ns(), False
        deaf_since = self._deaf_since()
        uncertainty_ns = None if deaf_since is None else max(0, at - deaf_since)
        self._left_since = deaf_since if len(data) == READ_SIZE else None
        if not data:
            self.pause_reading()
        self._arrive(Stamp(at, uncertainty_ns, 0 if kernel else uncertainty_ns, kernel), data)

    def _deaf_since(self) -> int | None:
        """Since when what is read now may have been in the kernel: longer than deaf, where a read left some there."""
        if self._ear is None:
            return None
        deaf_since = self._ear.not_polling_since_ns
        return deaf_since if self._left_since is None else min(deaf_since, self._left_since)
