"""Two small proxies for tests, over real sockets: HTTP (CONNECT, and requests it forwards) and SOCKS5."""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class TinyProxy:
    """Lets connections through and records what it was asked for.

    ``user`` is the "user:password" it wants, if any. ``answer`` is sent in place of doing what is asked. ``slow`` is
    how long it takes to open a tunnel, in seconds.
    """

    def __init__(self, *, user: str | None = None, answer: bytes | None = None, slow: float = 0.0) -> None:
        self.user = user
        self.answer = answer
        self.slow = slow
        self.asked: list[str] = []
        self.port = 0

    async def http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, *headers = head.decode("latin-1").split("\r\n")
        method, target, _ = line.split(" ")
        self.asked.append(f"{method} {target}")
        given = next((one for one in headers if one.lower().startswith("proxy-authorization:")), "")
        if self.answer is not None:
            writer.write(self.answer)
        elif self.user is not None and base64.b64encode(self.user.encode()).decode() not in given:
            writer.write(b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n')
        elif method == "CONNECT":
            host, _, port = target.rpartition(":")
            await asyncio.sleep(self.slow)
            opened = b"HTTP/1.1 200 Connection established\r\n\r\n"
            await _through(reader, writer, host.strip("[]"), int(port), opened)
        else:
            host, _, port = target.removeprefix("http://").partition("/")[0].partition(":")
            await _forward(head, reader, writer, *await asyncio.open_connection(host, int(port or 80)))

    async def socks5(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        if self.answer is not None:
            writer.write(self.answer)
            return
        if self.user is not None:
            if 2 not in methods:
                writer.write(b"\x05\xff")
                return
            writer.write(b"\x05\x02")
            _, size = await reader.readexactly(2)
            user = await reader.readexactly(size)
            password = await reader.readexactly((await reader.readexactly(1))[0])
            if f"{user.decode()}:{password.decode()}" != self.user:
                writer.write(b"\x01\x01")
                return
            writer.write(b"\x01\x00")
        else:
            writer.write(b"\x05\x00")
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = ".".join(map(str, await reader.readexactly(4)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append(f"{host}:{port}")
        try:
            await _through(reader, writer, host, port, b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50")
        except OSError:
            writer.write(b"\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00")


async def _forward(
    head: bytes,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    there: asyncio.StreamReader,
    out: asyncio.StreamWriter,
) -> None:
    """Send one request after another on, without what is for the proxy alone."""
    answering = asyncio.create_task(copy(there, writer))
    try:
        while True:
            first, *headers = head.decode("latin-1").split("\r\n")
            method, target, version = first.split(" ")
            path = target.removeprefix("http://").partition("/")[2]
            rest = [one for one in headers if not one.lower().startswith("proxy-")]
            out.write("\r\n".join([f"{method} /{path} {version}", *rest]).encode("latin-1"))
            sizes = [one.split(":")[1] for one in headers if one.lower().startswith("content-length:")]
            out.write(await reader.readexactly(int(sizes[0]) if sizes else 0))
            head = await reader.readuntil(b"\r\n\r\n")
    finally:
        out.close()
        await answering


async def _through(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int, say: bytes
) -> None:
    """Connect, tell the client, and copy both ways until one side ends."""
    there, out = await asyncio.open_connection(host, port)
    writer.write(say)
    await asyncio.gather(copy(reader, out), copy(there, writer))


async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """All that comes, until it ends."""
    try:
        with suppress(ConnectionError):
            while data := await source.read(1 << 16):
                sink.write(data)
                await sink.drain()
    finally:
        sink.close()


@asynccontextmanager
async def proxying(kind: str, **options) -> AsyncIterator[TinyProxy]:
    """A running proxy of a kind, "http" or "socks5"."""
    proxy = TinyProxy(**options)
    tasks = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        try:
            await (proxy.http if kind == "http" else proxy.socks5)(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        except OSError:
            writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
