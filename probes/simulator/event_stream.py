"""Frames of Amazon's binary event stream (``application/vnd.amazon.eventstream``), as its servers write them."""

import struct
from zlib import crc32

_STRING = 7


def frame(payload: bytes, **headers: str) -> bytes:
    """One frame with these headers, all text; ``event_type`` stands for ``:event-type``."""
    head = b"".join(_header(f":{name.replace('_', '-')}", value) for name, value in headers.items())
    prelude = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    data = prelude + struct.pack("!I", crc32(prelude)) + head + payload
    return data + struct.pack("!I", crc32(data))


def _header(name: str, value: str) -> bytes:
    data = value.encode()
    return bytes([len(name)]) + name.encode() + struct.pack("!BH", _STRING, len(data)) + data
