"""A raw server: whatever bytes a test wants said over a real socket, and what a probe makes of them."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.frames import Close, Frame, Opcode
from websockets.utils import accept_key

from probes.measure.probe import Prober
from probes.sample import Sample
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from tests.samples import endpoint

Script = Callable[["Client"], Awaitable[None]]


class Client:
    """The other end of one connection: reads requests, and writes whatever a test gives it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def request(self) -> dict[str, str]:
        """Read one request to the end of its body: its headers, names in lower case."""
        await self.reader.readline()
        headers = await self.request_headers()
        await self.body(headers)
        return headers

    async def request_headers(self) -> dict[str, str]:
        """Read what follows a request's first line, to its body: its headers, names in lower case."""
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        return {name.lower(): value for name, value in (one.split(": ", 1) for one in lines if one)}

    async def body(self, headers: dict[str, str]) -> bytes:
        """Read the body of a request, chunked or of a known length."""
        if "chunked" not in headers.get("transfer-encoding", ""):
            return await self.reader.readexactly(int(headers.get("content-length", 0)))
        chunks = []
        while size := int(await self.reader.readline(), 16):
            chunks.append(await self.reader.readexactly(size))
            await self.reader.readline()
        await self.reader.readline()
        return b"".join(chunks)

    async def say(self, data: bytes) -> None:
        """Write these bytes now."""
        self.writer.write(data)
        await self.writer.drain()

    async def upgrade(self) -> None:
        """Agree to a WebSocket, and read the first message."""
        key = (await self.request())["sec-websocket-key"]
        await self.say(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept_key(key).encode() + b"\r\n\r\n"
        )
        await self.reader.read(1 << 16)

    async def message(self, data: bytes) -> None:
        """Send a text message."""
        await self.say(Frame(Opcode.TEXT, data).serialize(mask=False))

    async def close(self, code: int, reason: str = "") -> None:
        """Send a close frame."""
        await self.say(Frame(Opcode.CLOSE, Close(code, reason).serialize()).serialize(mask=False))

    async def hold(self) -> None:
        """Nothing until the client goes."""
        while await self.reader.read(1 << 16):
            pass


@asynccontextmanager
async def serving(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server that plays the script on every connection and then closes it; its port."""
    busy: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            busy.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await script(Client(reader, writer))
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


async def probed(script: Script, dialect: str = "openai_chat", **options: Any) -> Sample:
    """The sample of one probe of such a server."""
    async with serving(script) as port:
        url = f"{'ws' if dialect.endswith('_ws') else 'http'}://127.0.0.1:{port}/v1"
        watched = endpoint(dialect=dialect, base_url=url, **options)
        prober = Prober(watched, load_dialect(dialect), transport_to(url, None))
        try:
            return (await prober.probe(None)).sample
        finally:
            prober.close()


def response(status: int, *headers: str, body: bytes = b"", length: int | None = None) -> bytes:
    """A response as it is sent; ``length`` is sent in place of the body's own."""
    lines = [f"HTTP/1.1 {status} Said", *headers, f"Content-Length: {len(body) if length is None else length}", "", ""]
    return "\r\n".join(lines).encode() + body


def answering(*pieces: bytes) -> Script:
    """A script: the request read, these bytes said, and the connection held open."""

    async def script(client: Client) -> None:
        await client.request()
        for piece in pieces:
            await client.say(piece)
        await client.hold()

    return script
