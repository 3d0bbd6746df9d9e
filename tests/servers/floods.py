"""Floods: a server in a process of its own whose responses never end, in every way that a server's can."""

import base64
import hashlib
import multiprocessing
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Final

STREAM: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
CHUNKED: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
REFUSED: Final = b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n"
WORD: Final = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
ANSWER: Final = WORD + b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
BLOCK: Final = 64 << 10
"""Bytes of a write, about."""


@dataclass(frozen=True)
class Flood:
    """What is sent after a request was read: ``begun`` once, then ``more`` again and again, in large writes."""

    begun: bytes
    more: bytes
    upgraded: bool = False
    unasked: bool = False
    """At once, before there is a request."""

    @property
    def block(self) -> bytes:
        """One write."""
        return self.more * max(1, BLOCK // len(self.more))


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


FLOODS: Final = {
    "newlines": Flood(STREAM, b"\n"),
    "comments": Flood(STREAM, b": x\n\n"),
    "tiny events": Flood(STREAM, b'data:{"choices":[]}\n\n'),
    "words": Flood(STREAM, WORD),
    "a line without an end": Flood(STREAM + b"data: ", b"x"),
    "an event without an end": Flood(STREAM, b"data: x\n"),
    "lines that are no events": Flood(STREAM, b"<p>\n"),
    "brackets": Flood(STREAM, b'data: {"a":[' + b"[]," * 80_000 + b"[]]}\n\n"),
    "small chunks": Flood(CHUNKED, b"1\r\n\n\r\n"),
    "trailers": Flood(CHUNKED + _chunk(WORD) + b"0\r\n", b"a: b\r\n"),
    "trailers after the end": Flood(CHUNKED + _chunk(ANSWER) + b"0\r\n", b"a: b\r\n"),
    "newlines after the end": Flood(CHUNKED + _chunk(ANSWER), b"1\r\n\n\r\n"),
    "one trailer": Flood(CHUNKED + _chunk(WORD) + b"0\r\n", b"a"),
    "a chunk's extension": Flood(CHUNKED + b"1;", b"a"),
    "interim responses": Flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "headers": Flood(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n"),
    "an error's body": Flood(REFUSED, b"1\r\n \r\n"),
    "empty frames": Flood(b"\x01\x00", b"\x00\x00", upgraded=True),
    "fragments": Flood(b"\x01\x00", b"\x00\x7e\x03\xe8" + b"x" * 1000, upgraded=True),
    "pings": Flood(b"", b"\x89\x00", upgraded=True),
    "long pings": Flood(b"", b"\x89\x7d" + b"x" * 125, upgraded=True),
    "empty messages": Flood(b"", b"\x81\x00", upgraded=True),
    "an upgrade's headers": Flood(b"HTTP/1.1 101 Switching Protocols\r\n", b"a: b\r\n"),
    "pings while nothing is asked": Flood(b"", b"\x89\x00", upgraded=True, unasked=True),
}
"""Each is named after what never ends in it."""

WEBSOCKETS: Final = frozenset(
    name for name, flood in FLOODS.items() if flood.upgraded or name.startswith(("an upgrade", "frames"))
)


@contextmanager
def flooding() -> Iterator[int]:
    """The port of such a server until the block is left; the flood is chosen by the first part of the path."""
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    child.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        child.kill()
        child.join()
        child.close()
        ours.close()


def url_of(port: int, name: str) -> str:
    """The base URL at which a flood of this name comes."""
    scheme = "ws" if name in WEBSOCKETS else "http"
    return f"{scheme}://127.0.0.1:{port}/{list(FLOODS).index(name)}/v1/responses"


def dialect_of(name: str) -> str:
    """The dialect to ask in."""
    return "openai_responses_ws" if name in WEBSOCKETS else "openai_chat"


def _serve(pipe: Connection) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        pipe.send(listening.getsockname()[1])
        while True:
            sock, _ = listening.accept()
            threading.Thread(target=_flood, args=(sock,), daemon=True).start()


def _flood(sock: socket.socket) -> None:
    with sock, suppress(OSError, ValueError):
        head = _head(sock)
        if head:
            flood = list(FLOODS.values())[int(head.split(b"/")[1])]
            if flood.upgraded:
                sock.sendall(_accepted(head))
                if not flood.unasked:
                    sock.recv(BLOCK)
            sock.sendall(flood.begun)
            block = flood.block
            while True:
                sock.sendall(block)


def _head(sock: socket.socket) -> bytes:
    """A request's head, with what of its body came with it; empty where the other side only looked in."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = sock.recv(BLOCK)
        if not data:
            return b""
        head += data
    return head


def _accepted(head: bytes) -> bytes:
    lines = (line.split(b": ", 1) for line in head.split(b"\r\n") if b": " in line)
    key = {name.lower(): value for name, value in lines}[b"sec-websocket-key"]
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())  # RFC 6455 §4.2.2
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )
