"""Amazon's event stream: frames whole wherever the network cuts them, and nothing wrong passes for one."""

import struct
from zlib import crc32

import pytest

from probes.wire.framing.event_stream import BrokenFrame, EventFrame, EventStreamDecoder

PRELUDE_WRONG = "the checksum of a frame's prelude is wrong"
LENGTHS_WRONG = "a frame's lengths do not fit each other"
REST_WRONG = "a frame's checksum or its headers are wrong"


def header(name: str, kind: int, value: bytes) -> bytes:
    """A header as it is sent; ``value`` includes its own length where its type wants one."""
    return bytes([len(name)]) + name.encode() + bytes([kind]) + value


def text(name: str, value: str) -> bytes:
    return header(name, 7, struct.pack("!H", len(value.encode())) + value.encode())


def frame(
    headers: bytes = b"", payload: bytes = b"", *, whole: int | None = None, of_headers: int | None = None
) -> bytes:
    """A frame with right checksums, whatever it says of its lengths."""
    whole = 16 + len(headers) + len(payload) if whole is None else whole
    prelude = struct.pack("!II", whole, len(headers) if of_headers is None else of_headers)
    rest = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return rest + struct.pack("!I", crc32(rest))


def decoded(*pieces: bytes, limit: int = 1 << 20) -> tuple[list[EventFrame | BrokenFrame], EventStreamDecoder]:
    decoder = EventStreamDecoder(limit)
    frames = [one for piece in pieces for one in decoder.feed(piece)]
    assert decoder.close() == []
    return frames, decoder


EVERY_TYPE = b"".join(
    [
        header("yes", 0, b""),
        header("no", 1, b""),
        header("byte", 2, b"\x01"),
        header("short", 3, b"\x01\x02"),
        header("int", 4, b"\x01\x02\x03\x04"),
        header("long", 5, b"\x01" * 8),
        header("bytes", 6, b"\x01\x01" + b"x" * 257),
        text("text", "y" * 300 + "ü"),
        header("time", 8, b"\x01" * 8),
        header("uuid", 9, b"\x01" * 16),
        text("last", "z"),
    ]
)


def test_of_the_headers_of_every_type_those_that_are_text_are_told():
    [found], decoder = decoded(frame(EVERY_TYPE, b"{}"))
    assert found == EventFrame({"text": "y" * 300 + "ü", "last": "z"}, b"{}")
    assert decoder.rest == b""


def test_any_cut_of_the_bytes_gives_the_same_frames():
    body = frame(text("a", "b"), b"one") + frame() + frame(b"", b"three")
    whole = [EventFrame({"a": "b"}, b"one"), EventFrame({}, b""), EventFrame({}, b"three")]
    for at in range(len(body) + 1):
        assert decoded(body[:at], body[at:])[0] == whole
    assert decoded(*(bytes([one]) for one in body))[0] == whole


def test_what_is_left_of_a_frame_is_told_and_is_no_frame():
    body = frame(b"", b"one")
    frames, decoder = decoded(body + body[:-1])
    assert (frames, decoder.rest) == ([EventFrame({}, b"one")], body[:-1])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (frame(b"", b"x")[:8] + b"\0\0\0\0" + frame(b"", b"x")[12:], PRELUDE_WRONG),
        (frame(b"", b"x", whole=15), LENGTHS_WRONG),
        (frame(b"", b"x", of_headers=2), LENGTHS_WRONG),
        (frame(b"", b"x")[:-1] + b"\0", REST_WRONG),
        (frame(header("new", 10, b"")), REST_WRONG),
        (frame(header("short", 4, b"\x01\x02\x03")), REST_WRONG),
        (frame(header("cut", 7, b"\0")), REST_WRONG),
        (frame(header("cut", 7, b"\0\x02x")), REST_WRONG),
        (frame(b"\x05abc"), REST_WRONG),
        (frame(header("latin", 7, b"\0\x01\xff")), REST_WRONG),
    ],
)
def test_a_wrong_frame_is_the_last_and_says_why(wrong: bytes, why: str):
    good = frame(b"", b"good")
    frames, decoder = decoded(good + wrong, good)
    assert frames == [EventFrame({}, b"good"), BrokenFrame(why, wrong)]
    assert not decoder.overflowed


def test_headers_may_be_all_there_is_in_a_frame():
    assert decoded(frame(text("a", "b")))[0] == [EventFrame({"a": "b"}, b"")]


@pytest.mark.parametrize(("size", "overflowed"), [(84, False), (85, True)])
def test_a_frame_above_the_limit_ends_the_decoding(size: int, overflowed: bool):
    good, large = frame(b"", b"good"), frame(b"", b"x" * size)
    frames, decoder = decoded(good + large, good, limit=100)
    assert decoder.overflowed is overflowed
    assert len(frames) == (1 if overflowed else 3)
    assert decoder.rest == b"", "memory stays bounded"
