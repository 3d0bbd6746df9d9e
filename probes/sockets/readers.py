"""Intake: how the bytes of one socket come into this process, each read with its stamp and how sure that is."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Final, Protocol

from probes.sockets.connection_timing import Stamp
from probes.sockets.event_loop import EngineLoop, ear
from probes.sockets.receive_timestamps import ReceiveClock
from probes.sockets.uring_reader import UringReader

READ_SIZE: Final = 1 << 16

Arrive = Callable[[Stamp, bytes], None]
"""Is given every read, and at the end one without data."""


class SocketReader(Protocol):
    """Reads one socket while it listens. ``gathers``: reads are handed over some milliseconds after they were made.

    ``fault`` is what the end was, if it was an error.
    """

    fault: OSError | None

    @property
    def gathers(self) -> bool:
        """See above."""
        ...

    def listen(self) -> None:
        """Read from now on, until `deafen` or the end."""

    def deafen(self) -> None:
        """Read no more: what comes stays in the kernel."""

    def look(self) -> None:
        """Hand over what was read already."""

    def hasten(self, by: int) -> None:
        """So many more, or fewer, wait for what comes and want it at once."""

    def close(self) -> None:
        """End the connection and close the socket."""


def intake(sock: socket.socket, arrive: Arrive) -> SocketReader:
    """The best intake that there is on the running loop: the kernel's own, or one that is told by the loop."""
    loop = asyncio.get_running_loop()
    clock = ReceiveClock(sock)
    ring = loop.ring if isinstance(loop, EngineLoop) and clock.kernel else None
    return SelectorReader(sock, clock, arrive) if ring is None else UringReader(sock, ring, arrive)


class SelectorReader:
    """Reads when the loop's selector says that there is something; in doubt for as long as the loop was deaf."""

    gathers: Final = False

    def __init__(self, sock: socket.socket, clock: ReceiveClock, arrive: Arrive) -> None:
        self.fault: OSError | None = None
        self._sock = sock
        self._clock = clock
        self._arrive = arrive
        self._loop = asyncio.get_running_loop()
        self._ear = ear(self._loop)
        self._left_since: int | None = None
        self._listening = False

    def listen(self) -> None:
        """See `SocketReader`."""
        if not self._listening:
            self._loop.add_reader(self._sock, self._receive)
            self._listening = True

    def deafen(self) -> None:
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
        self.deafen()
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
        doubt = None if deaf_since is None else max(0, at - deaf_since)
        self._left_since = deaf_since if len(data) == READ_SIZE else None
        if not data:
            self.deafen()
        self._arrive(Stamp(at, doubt, 0 if kernel else doubt, kernel), data)

    def _deaf_since(self) -> int | None:
        """Since when what is read now may have been in the kernel: longer than deaf, where a read left some there."""
        if self._ear is None:
            return None
        deaf_since = self._ear.deaf_since_ns
        return deaf_since if self._left_since is None else min(deaf_since, self._left_since)
