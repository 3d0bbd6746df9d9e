"""A server of chat completions whose connections end as a script says, on raw sockets, with or without TLS."""

import asyncio
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

LATE_S = 1.0
"""Later than any close that was sent before a request arrived."""

PARTING_S = 0.02
"""So soon after its last words a server closes a connection."""

_EVENTS = (
    'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}\n\n'
    'data: {"choices":[{"index":0,"delta":{"content":" there."},"finish_reason":"stop"}]}\n\n'
    'data: {"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":3,"total_tokens":24}}\n\n'
    "data: [DONE]\n\n"
)


def answer(headers: str = "") -> bytes:
    """A streamed answer with these header lines added, each with its line end."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{headers}Content-Length: {len(_EVENTS)}\r\n\r\n"
    return (head + _EVENTS).encode()


def refusal(status: str, *, bare: bool = False) -> bytes:
    """An error response as HAProxy sends it, without a length; ``bare``: with one, and without "Connection: close"."""
    body = "<html><body><h1>Request Time-out</h1>\nYour browser didn't send a complete request in time.\n</body></html>"
    kept = f"Content-Length: {len(body)}" if bare else "Cache-Control: no-cache\r\nConnection: close"
    return f"HTTP/1.1 {status} Request Time-out\r\n{kept}\r\nContent-Type: text/html\r\n\r\n{body}".encode()


@dataclass
class Closing:
    """What to do with each request in turn, whatever connection it comes on; the last stands for all after it.

    ``answer``; ``fin`` and ``rst``: close or reset once it is read; ``byte``: after one byte; ``late``: after `LATE_S`;
    ``gone``: close, and the listener with it; ``408``: with this answer, and the word that it closes; ``bare 408``:
    without the word; ``parting 408``: so, and it closes `PARTING_S` later; ``late 408``: after `LATE_S`; ``kept 408``:
    and keep the connection; ``503``: with another answer.
    ``headers`` stand in every answer. With ``idle_s`` a connection is closed when nothing was asked for so long.
    """

    script: list[str] = field(default_factory=lambda: ["answer"])
    headers: str = ""
    idle_s: float | None = None
    port: int = 0
    bodies: list[bytes] = field(default_factory=list)
    accepted: int = 0
    closed: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    listening: asyncio.Server | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self.writers.append(writer)
        try:
            while True:
                async with asyncio.timeout(self.idle_s):
                    head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: (\d+)", head)
                self.bodies.append(await reader.readexactly(int(length[1])) if length else b"")
                act = self.script[min(len(self.bodies), len(self.script)) - 1]
                if await self._spoiled(writer, act):
                    break
                if act == "answer":
                    writer.write(answer(self.headers))
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.closed += 1
            writer.close()

    async def _spoiled(self, writer: asyncio.StreamWriter, act: str) -> bool:
        """Whether the connection is to end now."""
        if act == "rst":
            reset_at_close(writer.get_extra_info("socket"))
            writer.transport.abort()
        elif act == "byte":
            writer.write(b"H")
        elif act in {"late", "late 408"}:
            await asyncio.sleep(LATE_S)
        elif act == "gone" and self.listening is not None:
            self.listening.close()
        if act.endswith(("408", "503")):
            writer.write(refusal(act[-3:], bare=act.startswith(("kept", "bare", "parting"))))
        if act == "parting 408":
            await asyncio.sleep(PARTING_S)
        return act not in {"answer", "kept 408"}

    def url(self, scheme: str = "http") -> str:
        return f"{scheme}://localhost:{self.port}/v1" if scheme == "https" else f"http://127.0.0.1:{self.port}/v1"


def reset_at_close(sock: socket.socket) -> None:
    """Have a socket answer with a reset when it is closed (``SO_LINGER`` of 0 s, socket(7))."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@asynccontextmanager
async def closing(
    *script: str, headers: str = "", idle_s: float | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Closing]:
    """A server with this script, while the block lasts."""
    server = Closing(list(script) or ["answer"], headers, idle_s)
    server.listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = server.listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.listening.close()
        for writer in server.writers:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
