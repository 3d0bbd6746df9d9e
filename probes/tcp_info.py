"""TcpInfo: what the kernel knows of a TCP connection's round trips (Linux)."""

import socket
import struct
import sys
from dataclasses import dataclass
from typing import Final

_SIZE: Final = 256
"""More than the fields read here take; a kernel hands out as many as it has, or as many as fit."""

_NOT_MEASURED: Final = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """Counters and round trips of one connection, from ``struct tcp_info`` (Linux, include/uapi/linux/tcp.h).

    ``rtt_us`` is the smoothed round trip (SRTT of RFC 6298, in whole µs) and 0 before the first sample, ``min_rtt_us``
    the kernel's minimum. ``unacked``: segments on the way. ``retransmitted``: segments sent again so far, SYN included.
    ``data_segments``: segments with data sent so far. None is a field that this kernel does not have: the minimum and
    the data segments came with Linux 4.6.
    """

    rtt_us: int
    unacked: int
    retransmitted: int
    min_rtt_us: int | None = None
    data_segments: int | None = None


def parse(data: bytes) -> TcpInfo | None:
    """The fields out of what the kernel handed out; None where it is shorter than any Linux since 2.6 hands out."""

    def field(offset: int) -> int | None:
        return None if len(data) < offset + 4 else int(struct.unpack_from("=I", data, offset)[0])

    rtt, unacked, retransmitted = field(68), field(24), field(100)
    if rtt is None or unacked is None or retransmitted is None:
        return None
    least = field(148)
    return TcpInfo(rtt, unacked, retransmitted, None if least == _NOT_MEASURED else least, field(156))


def read_tcp_info(sock: socket.socket) -> TcpInfo | None:
    """Ask the kernel; None on other systems, for another kind of socket, and for a closed one."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return parse(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE))
    except OSError:
        return None
