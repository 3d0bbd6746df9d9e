"""TcpInfo: what the kernel knows of a TCP connection's round trips."""

import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_SIZE: Final = 512
"""More than the fields read here take; a kernel hands out as many as it has, or as many as fit."""

_NOT_MEASURED: Final = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """Counters and round trips of one connection.

    ``rtt_us`` is the smoothed round trip (SRTT of RFC 6298), 0 before the first sample; ``least_us`` the smallest the
    kernel keeps, ``latest_us`` the newest sample. ``unacked``: what is on its way, 0 for nothing. ``retransmitted``:
    segments sent again so far, a SYN included; ``data_segments``: those with data sent so far. None is not known.
    """

    rtt_us: int
    unacked: int
    retransmitted: int | None = None
    data_segments: int | None = None
    least_us: int | None = None
    latest_us: int | None = None


def parse_linux(data: bytes) -> TcpInfo | None:
    """Out of ``struct tcp_info`` (include/uapi/linux/tcp.h), of which older kernels hand out the beginning only.

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
    """Out of ``struct tcp_connection_info`` (bsd/netinet/tcp.h): whole milliseconds, and bytes on their way.

    Written from the header and not run on a Mac.
    """
    if len(data) < 48:  # to the end of tcpi_srtt
        return None
    latest, smoothed = _field(data, 40) or 0, _field(data, 44) or 0
    return TcpInfo(smoothed * 1000, _field(data, 32) or 0, latest_us=latest * 1000 or None)


def read_tcp_info(sock: socket.socket) -> TcpInfo | None:
    """Ask the kernel; None on other systems, for another kind of socket, and for a closed one."""
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
"""The option that is asked for, and how to read the answer."""


def _field(data: bytes, offset: int) -> int | None:
    """The 32-bit number at an offset, in this machine's byte order; None past the end."""
    return int(struct.unpack_from("=I", data, offset)[0]) if len(data) >= offset + 4 else None
