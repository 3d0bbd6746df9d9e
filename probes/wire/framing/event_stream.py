"""Amazon's event stream (``application/vnd.amazon.eventstream``): bytes in, frames out, their checksums verified.

A frame is: its length, the length of its headers, a CRC32 of these two; headers; payload; a CRC32 of all before it.
Integers are big-endian. Source: smithy.io, "Amazon Event Stream" specification; botocore's ``eventstream.py``.
"""

import struct
from typing import Final, NamedTuple
from zlib import crc32

from probes.events import EVENT_LIMIT

_PRELUDE: Final = struct.Struct("!III")
_CHECKSUM: Final = struct.Struct("!I")
_LEAST: Final = _PRELUDE.size + _CHECKSUM.size
_STRING: Final = 7
_SIZES: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type: booleans, integers, a timestamp, a UUID; types 6 and 7 say their length."""


class EventFrame(NamedTuple):
    """One whole frame; of its headers those that are text."""

    headers: dict[str, str]
    payload: bytes


class BrokenFrame(NamedTuple):
    """Bytes that should be a frame and are none, and why; no frame comes after it."""

    why: str
    data: bytes


class EventStreamDecoder:
    """An incremental decoder. A frame above ``limit`` bytes sets ``overflowed`` and ends the decoding.

    Memory stays bounded whatever comes.
    """

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._broken = False
        self.overflowed = False
        self.not_utf8 = False  # always: the dialect decodes the payloads

    def feed(self, data: bytes) -> list[EventFrame | BrokenFrame]:
        """The frames that ``data``, the next bytes of the body, completes; a `BrokenFrame` is the last."""
        if self.overflowed or self._broken:
            return []
        self._rest += data
        frames: list[EventFrame | BrokenFrame] = []
        start = 0
        while len(self._rest) - start >= _PRELUDE.size:
            whole, headers, checksum = _PRELUDE.unpack_from(self._rest, start)
            if crc32(self._rest[start : start + 8]) != checksum:
                return [*frames, self._break("the checksum of a frame's prelude is wrong", start)]
            if whole > self._limit:
                self._overflow()
                return frames
            if whole < _LEAST or headers > whole - _LEAST:
                return [*frames, self._break("a frame's lengths do not fit each other", start)]
            if len(self._rest) - start < whole:
                break
            frame = _frame(bytes(self._rest[start : start + whole]), headers)
            if frame is None:
                return [*frames, self._break("a frame's checksum or its headers are wrong", start)]
            frames.append(frame)
            start += whole
        del self._rest[:start]
        return frames

    def close(self) -> list[EventFrame | BrokenFrame]:
        """Nothing: a frame that is not complete at the end of the body is not returned; its beginning is the `rest`."""
        return []

    @property
    def rest(self) -> bytes:
        """The bytes so far of the frame that is not complete."""
        return bytes(self._rest)

    def _break(self, why: str, start: int) -> BrokenFrame:
        self._broken = True
        return BrokenFrame(why, bytes(self._rest[start:]))

    def _overflow(self) -> None:
        self.overflowed = True
        self._rest.clear()


def _frame(data: bytes, headers: int) -> EventFrame | None:
    """A frame whose prelude is right; None where the rest of it is not."""
    end = len(data) - _CHECKSUM.size
    if crc32(data[:end]) != _CHECKSUM.unpack_from(data, end)[0]:
        return None
    first = _PRELUDE.size + headers
    try:
        return EventFrame(_headers(data[_PRELUDE.size : first]), data[first:end])
    except (IndexError, KeyError, UnicodeDecodeError):
        return None


def _headers(data: bytes) -> dict[str, str]:
    """The headers that are text. Raises IndexError, KeyError or UnicodeDecodeError for bytes that are no headers."""
    found: dict[str, str] = {}
    place = 0
    while place < len(data):
        start, place = place + 1, place + 1 + data[place]
        name, value_type = data[start:place].decode(), data[place]
        place += 1
        if (size := _SIZES.get(value_type)) is None:
            if value_type not in (6, _STRING):
                raise KeyError(value_type)
            size = data[place] << 8 | data[place + 1]
            place += 2
        value = data[place : place + size]
        if len(value) < size:
            raise IndexError(size)
        if value_type == _STRING:
            found[name] = value.decode()
        place += size
    return found
