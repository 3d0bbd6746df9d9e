"""A server that misbehaves as a script says: one port for each fault of `wire_faults`, in a process of its own.

`main` prints the ports as one line of JSON and serves until its standard input ends.
"""

import base64
import hashlib
import json
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import trustme

FLOOD_S = 30.0
FLOOD_BYTES = 1 << 30
"""A flood ends after so long or so much, whatever its reader does."""

_WEBSOCKET_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 §1.3


@dataclass(frozen=True)
class Request:
    """Read one HTTP request, to the end of its body."""


@dataclass(frozen=True)
class Upgrade:
    """Read a request and agree to a WebSocket (RFC 6455 §4.2.2)."""


@dataclass(frozen=True)
class Frame:
    """Read one frame of a WebSocket."""


@dataclass(frozen=True)
class Send:
    """Write these bytes."""

    data: bytes


@dataclass(frozen=True)
class Flood:
    """Write these bytes again and again, as fast as they are taken."""

    data: bytes


@dataclass(frozen=True)
class Drip:
    """Write one byte after the other, one each ``every_s``."""

    data: bytes
    every_s: float


@dataclass(frozen=True)
class Wait:
    """Nothing for so long."""

    seconds: float


@dataclass(frozen=True)
class Hold:
    """Nothing until the client goes."""


@dataclass(frozen=True)
class Reset:
    """Reset the connection (RST)."""


Step = Request | Upgrade | Frame | Send | Flood | Drip | Wait | Hold | Reset


class Served:
    """One connection: the steps, then an orderly close."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._read = b""

    def play(self, steps: tuple[Step, ...]) -> None:
        with self._sock, suppress(OSError, ValueError):
            for step in steps:
                self._do(step)

    def _do(self, step: Step) -> None:
        match step:
            case Request():
                self._request()
            case Upgrade():
                self._upgrade()
            case Frame():
                self._frame()
            case Send(data):
                self._sock.sendall(data)
            case Flood(data):
                self._flood(data * (1 + 65_536 // len(data)))
            case Drip(data, every_s):
                for byte in data:
                    self._sock.sendall(bytes([byte]))
                    time.sleep(every_s)
            case Wait(seconds):
                time.sleep(seconds)
            case Hold():
                self._sock.settimeout(FLOOD_S)
                while self._sock.recv(65_536):
                    pass
            case Reset():
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                raise ValueError("enough")

    def _flood(self, block: bytes) -> None:
        until, sent = time.monotonic() + FLOOD_S, 0
        while time.monotonic() < until and sent < FLOOD_BYTES:
            self._sock.sendall(block)
            sent += len(block)

    def _upgrade(self) -> None:
        key = re.search(rb"(?i)sec-websocket-key: *(\S+)", self._head())
        accept = base64.b64encode(hashlib.sha1((key[1] if key else b"") + _WEBSOCKET_GUID).digest())
        head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self._sock.sendall(head + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")

    def _frame(self) -> None:
        """One masked frame of a client (RFC 6455 §5.2)."""
        self._more(2)
        length = self._read[1] & 0x7F
        extra = {126: 2, 127: 8}.get(length, 0)
        self._more(2 + extra)
        size = int.from_bytes(self._read[2 : 2 + extra]) if extra else length
        self._more(2 + extra + 4 + size)
        self._read = self._read[2 + extra + 4 + size :]

    def _request(self) -> None:
        head = self._head()
        size = re.search(rb"(?i)content-length: *(\d+)", head)
        self._more(int(size[1]) if size else 0)
        self._read = self._read[int(size[1]) if size else 0 :]

    def _head(self) -> bytes:
        while b"\r\n\r\n" not in self._read:
            self._more(len(self._read) + 1)
        head, _, self._read = self._read.partition(b"\r\n\r\n")
        return head

    def _more(self, size: int) -> None:
        while len(self._read) < size:
            data = self._sock.recv(65_536)
            if not data:
                raise ValueError("the client has gone")
            self._read += data


def _accept(listening: socket.socket, steps: tuple[Step, ...], tls: ssl.SSLContext | None) -> None:
    while True:
        sock, _ = listening.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_serve, args=(sock, steps, tls), daemon=True).start()


def _serve(sock: socket.socket, steps: tuple[Step, ...], tls: ssl.SSLContext | None) -> None:
    with sock, suppress(OSError):
        Served(sock if tls is None else tls.wrap_socket(sock, server_side=True)).play(steps)


def main() -> None:
    """Serve every fault until standard input ends."""
    from tests.chaos.wire_faults import FAULTS

    authority = trustme.CA()
    untrusted = trustme.CA().issue_cert("127.0.0.1", "localhost")
    contexts = {}
    for name, certificate in (("trusted", authority.issue_cert("127.0.0.1")), ("untrusted", untrusted)):
        contexts[name] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(contexts[name])
    with TemporaryDirectory() as folder:
        bundle = Path(folder) / "authority.pem"
        authority.cert_pem.write_to_path(str(bundle))
        ports = {}
        for one in FAULTS:
            listening = socket.create_server(("127.0.0.1", 0), backlog=64)
            ports[one.name] = listening.getsockname()[1]
            tls = contexts[one.certificate] if one.certificate else None
            threading.Thread(target=_accept, args=(listening, one.steps, tls), daemon=True).start()
        sys.stdout.write(json.dumps({"ports": ports, "authority": str(bundle)}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


@contextmanager
def wire_server() -> Iterator[dict]:
    """The running server: ``ports`` by fault, and the ``authority`` that vouches for it."""
    with subprocess.Popen(
        [sys.executable, "-c", "from tests.chaos.wire_server import main; main()"],
        cwd=Path(__file__).parents[2], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    ) as process:  # fmt: skip
        yield json.loads(process.stdout.readline())
        process.stdin.close()
