"""A server that is told of incidents: it keeps what it got, and fails in every way that such servers do."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.servers.raw_server import Client, Script, response, serving

ELSEWHERE = "http://127.0.0.1:9/elsewhere"


@dataclass
class Told:
    """One request that was taken whole: its first line, its headers (names in lower case), and its body."""

    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Sink:
    """What a server was told, at its port; ``answer`` may be changed at any time."""

    answer: Script | bytes
    port: int = 0
    told: list[Told] = field(default_factory=list)
    tls: bool = False

    @property
    def origin(self) -> str:
        """Where it is."""
        return f"https://localhost:{self.port}" if self.tls else f"http://127.0.0.1:{self.port}"

    async def serve(self, client: Client) -> None:
        """Take a request, keep it, and answer as is said just now."""
        line = await client.reader.readline()
        if not line:  # whoever asked was killed
            return
        target = line.decode().split(" ")[1]
        headers = await client.request_headers()
        body = await client.reader.readexactly(int(headers.get("content-length", 0)))
        self.told.append(Told(target, headers, body))
        if isinstance(self.answer, bytes):
            await client.say(self.answer)
            await client.hold()
        else:
            await self.answer(client)


@asynccontextmanager
async def sink(answer: Script | bytes = b"", tls: ssl.SSLContext | None = None) -> AsyncIterator[Sink]:
    """A server that gives one answer to all, a 200 by default."""
    found = Sink(answer or OK, tls=tls is not None)
    async with serving(found.serve, tls) as port:
        found.port = port
        yield found


OK = response(200, body=b"ok")
ACCEPTED = response(202, "Content-Type: application/json", body=b'{"status":"success","message":"Event processed"}')


async def _hang(client: Client) -> None:
    await client.hold()


async def _hang_in_head(client: Client) -> None:
    await client.say(b"HTTP/1.1 200 OK\r\nContent-")
    await client.hold()


async def _drip(client: Client) -> None:
    """A head that never ends, a byte at a time."""
    await client.say(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        await client.say(b"a")
        await asyncio.sleep(0.01)


async def _reset(client: Client) -> None:
    client.writer.transport.abort()


async def _close(client: Client) -> None:
    client.writer.close()


async def _flood(client: Client) -> None:
    await client.say(b"HTTP/1.1 500 No\r\n")
    while True:
        await client.say(b"X-More: " + b"a" * 8_000 + b"\r\n")


async def _endless(client: Client) -> None:
    await client.say(b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        await client.say(b"2000\r\n" + b"a" * 0x2000 + b"\r\n")


def _said(data: bytes) -> Callable[[Client], Any]:
    async def script(client: Client) -> None:
        await client.say(data)
        client.writer.close()

    return script


REFUSALS: dict[str, Script | bytes] = {
    "301 to another host": response(301, f"Location: {ELSEWHERE}"),
    "302": response(302, f"Location: {ELSEWHERE}"),
    "307 to another host": response(307, f"Location: {ELSEWHERE}"),
    "308": response(308, f"Location: {ELSEWHERE}"),
    "304": response(304),
    "400": response(400, body=b"what is this"),
    "401": response(401, body=b"wrong secret"),
    "403": response(403, body=b"wrong secret"),
    "404": response(404),
    "410": response(410),
    "413": response(413),
    "429": response(429, "Retry-After: 30"),
    "500": response(500, body=b"oops"),
    "503 with a wait": response(503, "Retry-After: 120"),
    "503 with a nonsense wait": response(503, "Retry-After: soon"),
    "an endless body": _endless,
    "garbage for a body": response(500, body=bytes(range(256)) * 20),
    "an unknown status": response(799),
}
"""Answers that say the message was not taken."""

DOUBTS: dict[str, Script | bytes] = {
    "502": response(502),
    "504": response(504),
    "a hang before the head": _hang,
    "a hang in the head": _hang_in_head,
    "a head that drips": _drip,
    "a reset": _reset,
    "closed without a word": _close,
    "huge headers": _flood,
    "no HTTP": _said(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a cut head": _said(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "a broken status line": _said(b"HTTP/1.1 abc\r\n\r\n"),
}
"""What leaves it open whether the message was taken."""

HANGS = {"a hang before the head", "a hang in the head", "a head that drips"}
"""Of these doubts, what only a time-out ends."""

TAKEN: dict[str, bytes | Script] = {
    "200": OK,
    "202": ACCEPTED,
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "200 of another type": response(200, "Content-Type: text/html", body=b"<html>"),
    "200 with a cut body": response(200, body=b"o", length=1_000),
    "200 with broken chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
}
"""Answers whose head says that the message was taken."""
