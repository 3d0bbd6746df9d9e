"""ReceiveClock: when data reached this machine, by the kernel's own stamp on every segment where it gives one.

Linux stamps each TCP segment as it takes it in (``SO_TIMESTAMPNS``, socket(7)) and hands the stamp out with the data
(``recvmsg``). The stamp is on the wall clock and is moved to the monotonic clock here. Of segments that waited to be
read the kernel keeps only the newest stamp, so a stamp says when the *last* byte of a read came.
"""

import socket
import struct
import sys
import time
from typing import Final, NamedTuple

STEP_NS: Final = 1_000_000
"""A wall clock that moved so far against the monotonic one was set; slewing is at most 500 ppm (adjtimex(2))."""

CLOCK_ERROR_NS: Final = 10_000
"""Two readings of a clock further apart had something come between them."""

DRIFT_NS: Final = 2_000
"""By so much the clocks may drift apart before they are looked at closely again."""

OLDEST_STAMP_NS: Final = 1_000_000_000
"""A stamp so long before its socket was wrapped is not on this process's wall clock: that was set just now, or the
kernel's is another one (libfaketime)."""

_SO_TIMESTAMPNS: Final = 35
"""``SO_TIMESTAMPNS_OLD`` of asm-generic/socket.h, which every architecture Python supports uses; its stamp is a
timespec of two longs."""

_TIMESPEC: Final = struct.Struct("@ll")
_ANCILLARY: Final = socket.CMSG_SPACE(_TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0


class Received(NamedTuple):
    """One read: the bytes, when the last of them came (monotonic ns), and whether that is the kernel's word."""

    data: bytes
    at: int
    kernel: bool


class ClockOffset:
    """Moves stamps from the wall clock to the monotonic one."""

    def __init__(self) -> None:
        self._offset_ns = wall_minus_monotonic()

    def stepped(self, now: int) -> bool:
        """Look at both clocks, at ``now`` (monotonic ns); whether the wall clock was set since it was looked at last.

        A stamp that came in between can not be moved.
        """
        if abs(time.time_ns() - now - self._offset_ns) <= DRIFT_NS:
            return False
        before, self._offset_ns = self._offset_ns, wall_minus_monotonic()
        return abs(self._offset_ns - before) > STEP_NS

    def monotonic(self, wall_ns: int) -> int:
        """A stamp on the monotonic clock."""
        return wall_ns - self._offset_ns


class StampedSocket:
    """Reads one socket and dates what it reads. Where the kernel gives no stamp, now is when it was read.

    ``kernel``: it was asked for stamps, and will give them.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.kernel = _ask_for_stamps(sock)
        self._sock = sock
        self._stamps = ClockOffset()
        self._newest_ns = time.monotonic_ns() - OLDEST_STAMP_NS

    def receive(self, size: int) -> Received:
        """At most ``size`` bytes. Raises what ``recv`` does: BlockingIOError, OSError."""
        if not self.kernel:
            return Received(self._sock.recv(size), time.monotonic_ns(), kernel=False)
        data, ancillary, _, _ = self._sock.recvmsg(size, _ANCILLARY)
        now = time.monotonic_ns()
        stepped = self._stamps.stepped(now)
        for _, kind, value in ancillary:
            if kind == _SO_TIMESTAMPNS and len(value) == _TIMESPEC.size and not stepped:
                seconds, nanoseconds = _TIMESPEC.unpack(value)
                at = self._stamps.monotonic(seconds * 1_000_000_000 + nanoseconds)
                if self._newest_ns <= at <= now:  # else the clock was set in between: no stamp to go by
                    self._newest_ns = at
                    return Received(data, at, kernel=True)
        return Received(data, now, kernel=False)


def _ask_for_stamps(sock: socket.socket) -> bool:
    if not sys.platform.startswith("linux") or not hasattr(sock, "recvmsg"):
        return False
    try:
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


def stamping_socket() -> socket.socket:
    """A socket that wants stamps. While one is open the kernel stamps all that comes, for everybody.

    It begins and ends with that only some time after it is asked to, so what comes first would have no stamp.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    _ask_for_stamps(sock)
    return sock


def wall_minus_monotonic() -> int:
    """The two clocks read as close together as can be, ns; good to `CLOCK_ERROR_NS` but on a machine beside itself."""
    for _ in range(3):
        before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if after - before < CLOCK_ERROR_NS:
            break
    return wall - (before + after) // 2
