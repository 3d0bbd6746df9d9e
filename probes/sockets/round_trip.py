"""The network round trips of one connection, from what the kernel (TCP_INFO) measures of every request's ACK.

The kernel keeps no single sample, but its smoothed round trip moves by an eighth of what a new sample differs from it
(RFC 6298 §2; Linux, tcp_rtt_estimator), so where exactly one segment was sent and acknowledged between two readings of
it, the sample follows from both, to 8 µs.

An ACK may be late, and then is no round trip of the network (RFC 1122 §4.2.3.2). Linux holds it back until the answer
where the last answers came at once, else until the server reads, but for at most 40 ms. It acknowledges at once what
comes after a rest longer than its retransmission timeout, and when it has once held back an ACK for too long
(tcp_event_data_recv, tcp_delack_timer_handler). So a sample that is larger than the newest known counts only where none
of this can be the reason. The kernel's own minimum holds no late ACK either, but it takes no larger sample of a lone
segment at all, however much longer the path has become (tcp_update_rtt_min).
"""

import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from probes.sockets.connection_timing import Stamp, Step

HELD_BACK_US: Final = 40_000
"""The least time after which Linux sends an ACK that no answer carries; other systems wait longer."""

RESTED_NS: Final = 1_000_000_000
"""Longer than the retransmission timeout of a server up to half a second away."""

TOGETHER_US: Final = 100
"""An ACK that arrived this shortly before the answer was carried by it."""

OLD_NS: Final = 300_000_000_000
"""A round trip older than five minutes says nothing of the network now; Linux's own minimum forgets it then, too."""

_KEPT: Final = 8
"""How many of the newest round trips are remembered."""

_SIZE: Final = 512
"""More bytes than the fields that are read here; a kernel returns as many as it has, or as fit."""

_NOT_MEASURED: Final = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """Counters and round trips of one connection.

    ``rtt_us`` is the smoothed round trip (SRTT of RFC 6298), 0 before the first sample; ``least_us`` the smallest the
    kernel keeps, ``latest_us`` the newest sample. ``unacked``: what is in flight, 0 for nothing. ``retransmitted``:
    segments sent again so far, a SYN included; ``data_segments``: those with data sent so far. None is not known.
    """

    rtt_us: int
    unacked: int
    retransmitted: int | None = None
    data_segments: int | None = None
    least_us: int | None = None
    latest_us: int | None = None


def parse_linux(data: bytes) -> TcpInfo | None:
    """Read ``struct tcp_info`` (include/uapi/linux/tcp.h), of which older kernels return the beginning only.

    ``tcpi_min_rtt`` and ``tcpi_data_segs_out`` came with Linux 4.6; None where there is less than any 2.6 hands out.
    """
    if len(data) < 104:  # to the end of tcpi_total_retrans
        return None
    least = _field(data, 148)
    return TcpInfo(
        rtt_us=_field(data, 68) or 0,
        unacked=_field(data, 24) or 0,
        retransmitted=_field(data, 100),
        data_segments=_field(data, 156),
        least_us=None if least == _NOT_MEASURED else least,
    )


def parse_macos(data: bytes) -> TcpInfo | None:
    """Read ``struct tcp_connection_info`` (bsd/netinet/tcp.h): whole milliseconds, and bytes in flight.

    Written from the header and not run on a Mac.
    """
    if len(data) < 48:  # to the end of tcpi_srtt
        return None
    latest, smoothed = _field(data, 40) or 0, _field(data, 44) or 0
    return TcpInfo(smoothed * 1000, _field(data, 32) or 0, latest_us=latest * 1000 or None)


def read_tcp_info(sock: socket.socket) -> TcpInfo | None:
    """What the kernel knows; None on other systems, for another kind of socket, and for a closed one."""
    if (known := _BY_SYSTEM.get(sys.platform)) is None:
        return None
    option, parse = known
    try:
        return parse(sock.getsockopt(socket.IPPROTO_TCP, option, _SIZE))
    except OSError:
        return None


_BY_SYSTEM: Final[dict[str, tuple[int, Callable[[bytes], TcpInfo | None]]]] = {
    "linux": (11, parse_linux),  # TCP_INFO, include/uapi/linux/tcp.h
    "darwin": (0x106, parse_macos),  # TCP_CONNECTION_INFO, bsd/netinet/tcp.h
}
"""The socket option of each system, and how to read its value."""


def _field(data: bytes, offset: int) -> int | None:
    """The 32-bit number at an offset, in this machine's byte order; None past the end."""
    return int(struct.unpack_from("=I", data, offset)[0]) if len(data) >= offset + 4 else None


class RoundTrips:
    """Reads the kernel's figures before a request is sent, and again when data is received after it.

    ``connect`` is the connection's handshake, for systems whose kernel tells nothing. ``awaiting_data``: a request was
    sent and no data has been received yet.
    """

    def __init__(self, sock: socket.socket, connect: Step | None = None) -> None:
        self.awaiting_data = False
        self._sock = sock
        self._before: TcpInfo | None = None
        self._sent_ns = time.monotonic_ns()
        self._rested = False
        self._previous_us: int | None = None
        self._samples: deque[tuple[int, int]] = deque(maxlen=_KEPT)
        opened = read_tcp_info(sock)
        if opened is not None and opened.rtt_us and not opened.retransmitted:
            self._add(opened.rtt_us, connect.stop if connect else self._sent_ns)
        elif opened is None and connect is not None:
            self._add((connect.stop - connect.start) // 1000, connect.stop)

    def since(self, start_ns: int) -> int | None:
        """The smallest round trip (ns) measured since an instant (monotonic ns).

        Without one, the newest, unless it is older than `OLD_NS`; None where there is none.
        """
        recent = [us for at, us in self._samples if at >= start_ns]
        newest = self._newest_us(time.monotonic_ns())
        found = min(recent) if recent else newest
        return None if found is None else found * 1000

    def note_request(self) -> None:
        """A request is about to be sent."""
        self._before = read_tcp_info(self._sock)
        now = time.monotonic_ns()
        self._rested = now - self._sent_ns >= RESTED_NS
        self._sent_ns, self.awaiting_data = now, self._before is not None

    def note_data(self, stamp: Stamp) -> None:
        """Data was received after the request; by now its ACK has been, too, as a rule."""
        before, after = self._before, read_tcp_info(self._sock)
        if before is None or after is None:
            self.awaiting_data = False
        elif not after.unacked:
            self.awaiting_data = False
            answered_us = (stamp.at - (stamp.uncertainty_ns or 0) - self._sent_ns) // 1000
            if not before.unacked and after.retransmitted == before.retransmitted:  # else whose ACK it was? RFC 6298 §3
                self._evaluate(before, after, answered_us, stamp.at)

    def _evaluate(self, before: TcpInfo, after: TcpInfo, answered_us: int, at: int) -> None:
        """Add what was measured between two readings as a round trip, unless the ACK may have been late.

        ``answered_us`` is how long after the request data was received.
        """
        sample_us = lone_sample_us(before, after)
        if sample_us is None:
            if after.least_us is not None and segments(before, after) > 1:
                self._add(after.least_us, at)  # every second full segment is acknowledged at once (RFC 5681 §4.2)
            return
        newest_us = self._newest_us(at)
        if newest_us is not None and sample_us <= newest_us:
            self._add(sample_us, at)
            return
        if sample_us >= answered_us - TOGETHER_US:
            return
        sudden = self._previous_us is not None and sample_us >= self._previous_us + HELD_BACK_US
        self._previous_us = sample_us
        if newest_us is None or (self._rested and not sudden):
            self._add(sample_us, at)

    def _newest_us(self, now: int) -> int | None:
        return self._samples[-1][1] if self._samples and now - self._samples[-1][0] <= OLD_NS else None

    def _add(self, us: int, at: int) -> None:
        self._previous_us = us
        self._samples.append((at, us))


def segments(before: TcpInfo, after: TcpInfo) -> int:
    """How many segments with data were sent between two readings, as far as the kernel tells."""
    return (after.data_segments or 0) - (before.data_segments or 0)


def lone_sample_us(before: TcpInfo, after: TcpInfo) -> int | None:
    """The round trip (µs) of the only segment with data that was sent between two readings; None unless it was one."""
    if after.latest_us is not None:
        return after.latest_us
    if segments(before, after) != 1:
        return None
    found = before.rtt_us + 8 * (after.rtt_us - before.rtt_us) if before.rtt_us else after.rtt_us
    return max(found, after.least_us or 0)
