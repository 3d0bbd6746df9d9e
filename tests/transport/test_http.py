"""HTTP connections over real sockets: opened once and reused, an end noticed, requests for the wrong origin refused."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from probes.sockets.connection_timing import Stamp
from probes.sockets.stream import UNREAD_LIMIT
from probes.tls.context import tls_context
from probes.transport.base import Response
from probes.transport.connect import Peer, open_stream
from probes.transport.http import HttpConnection
from probes.wire.dialect import WireRequest
from tests.servers.certificate import server_context
from tests.sockets.pairs import ON_THE_WAY, first_of, plenty

ASKED = WireRequest("", {}, b"")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: who=you\r\nX-Twice: 1\r\nx-twice: 2\r\n\r\n"


class Server:
    """Answers every request with ``hello``; the connections it holds can be closed under the client."""

    def __init__(self) -> None:
        self.accepted = 0
        self.asked: list[bytes] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self.writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.asked.append(head)
                await reader.readexactly(2)
                writer.write(HEAD + b"hello")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def hang_up(self) -> None:
        for writer in self.writers:
            writer.close()
            with suppress(ConnectionError):  # the client may have gone first, and rudely
                await writer.wait_closed()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        await server.hang_up()


@asynccontextmanager
async def connection_to(url: str, tls: ssl.SSLContext | None = None) -> AsyncIterator[HttpConnection]:
    connection = HttpConnection(url, tls)
    try:
        yield connection
    finally:
        connection.drop()


async def ask(connection: HttpConnection, url: str) -> Response:
    """A reply, its body read to the end."""
    reply = await connection.send(WireRequest(url + "/x", {"Accept-Encoding": "identity"}, b"{}"))
    assert await first_of(reply.body) == b"hello"
    assert await first_of(reply.body) == b""
    return reply


async def test_a_first_request_pays_the_set_up_and_a_second_does_not():
    async with serving() as server, connection_to(server.url) as connection:
        setup = await connection.open(ASKED, plenty())
        assert setup is not None
        assert setup.connect.start <= setup.connect.stop
        assert setup.dns is None, "an address literal is not resolved"
        assert setup.tls is None
        reply = await ask(connection, server.url)
        assert connection.sent is not None
        assert setup.connect.stop <= connection.sent.at <= reply.head.at
        assert await connection.open(ASKED, plenty()) is None
        await ask(connection, server.url)
        assert server.accepted == 1


async def test_a_head_with_some_of_its_body_behind_it_in_one_read_is_as_uncertain_as_the_reads_beginning():
    async with serving() as server, connection_to(server.url) as connection:
        await connection.open(ASKED, plenty())
        reply = await connection.send(WireRequest(server.url + "/x", {}, b"{}"))
        assert reply.head is not None
        reads: list[Stamp] = []
        await reply.body.read_while(lambda stamp, _: bool(reads.append(stamp)))
        assert reads[0].at == reply.head.at, "they came together"
        assert reply.head.end_uncertainty_ns == reads[0].uncertainty_ns


async def test_no_cookie_is_kept_for_the_next_request():
    async with serving() as server, connection_to(server.url) as connection:
        for _ in range(2):
            await connection.open(ASKED, plenty())
            await ask(connection, server.url)
        assert len(server.asked) == 2
        assert not any(b"cookie" in head.lower() for head in server.asked)


async def test_header_names_are_in_lower_case_values_joined_and_cookies_left_out():
    async with serving() as server, connection_to(server.url) as connection:
        await connection.open(ASKED, plenty())
        assert (await ask(connection, server.url)).headers == {"content-length": "5", "x-twice": "1, 2"}


async def test_a_connection_the_server_closed_is_opened_again():
    async with serving() as server, connection_to(server.url) as connection:
        await connection.open(ASKED, plenty())
        await ask(connection, server.url)
        await server.hang_up()
        while connection.is_open:
            await asyncio.sleep(0)
        assert await connection.open(ASKED, plenty()) is not None
        await ask(connection, server.url)
        assert server.accepted == 2


async def test_an_unused_connection_counts_as_open():
    async with serving() as server, connection_to(server.url) as connection:
        await connection.open(ASKED, plenty())
        assert connection.is_open
        assert await connection.open(ASKED, plenty()) is None
        assert server.accepted == 1


async def test_tls_is_timed_apart(tmp_path, monkeypatch):
    context, authority = server_context(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    async with (
        serving(context) as server,
        connection_to(f"https://localhost:{server.port}", tls_context()) as connection,
    ):
        setup = await connection.open(ASKED, plenty())
        assert setup is not None
        assert setup.tls is not None
        assert setup.connect.stop <= setup.tls.start < setup.tls.stop
        await ask(connection, f"https://localhost:{server.port}")


async def test_a_request_for_another_origin_is_refused():
    async with serving() as server, connection_to(server.url) as connection:
        await connection.open(ASKED, plenty())
        with pytest.raises(ValueError, match="another origin"):
            await ask(connection, f"http://elsewhere.invalid:{server.port}")


async def test_a_reader_behind_a_flood_leaves_it_in_the_kernel():
    gone = asyncio.Event()

    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        gone.set()

    listening = await asyncio.start_server(flood, "127.0.0.1", 0)
    stream, _ = await open_stream(Peer("127.0.0.1", listening.sockets[0].getsockname()[1], None), plenty())
    while stream.unread <= UNREAD_LIMIT:
        await asyncio.sleep(0)
    for _ in range(1000):
        await asyncio.sleep(0)
    assert stream.unread <= UNREAD_LIMIT + 2 * ON_THE_WAY
    _, data = await stream.read()
    assert set(data) == {ord("x")}
    stream.abort()
    await gone.wait()
    listening.close()
