"""Connections over real sockets: set-up timed apart, reuse known, death noticed, failures named."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from probes.outcome import Outcome
from probes.sockets.connection_timing import Step
from probes.sockets.round_trip import read_tcp_info
from probes.sockets.stream import UNREAD_LIMIT
from probes.tls.context import tls_context
from probes.transport import connect as network
from probes.transport.base import Response, SetupError
from probes.transport.connect import Peer, open_stream, parse_peer
from probes.transport.factory import transport_to
from probes.transport.http import HttpConnection
from probes.wire.dialect import WireRequest
from tests.servers.certificate import server_context
from tests.sockets.pairs import ON_THE_WAY, first_of, plenty
from tests.virtual_time import VirtualLoop, run

ASKED = WireRequest("", {}, b"")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: who=you\r\n\r\n"


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


async def test_no_cookie_is_kept_for_the_next_request():
    async with serving() as server, connection_to(server.url) as connection:
        for _ in range(2):
            await connection.open(ASKED, plenty())
            await ask(connection, server.url)
        assert len(server.asked) == 2
        assert not any(b"cookie" in head.lower() for head in server.asked)


async def test_a_name_is_resolved_and_its_time_known():
    async with serving() as server:
        stream, setup = await open_stream(Peer("localhost", server.port, None), plenty())
        assert setup.dns is not None
        assert setup.dns.start < setup.dns.stop <= setup.connect.start
        assert setup.address == "127.0.0.1"
        stream.abort()


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


async def test_an_unknown_certificate_is_a_tls_failure(tmp_path, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    context, _ = server_context(tmp_path)
    async with serving(context) as server:
        with pytest.raises(SetupError) as caught:
            await open_stream(Peer("localhost", server.port, tls_context()), plenty())
        assert caught.value.outcome is Outcome.TLS
        assert "certificate" in caught.value.detail


async def test_a_server_that_speaks_no_tls_is_a_tls_failure():
    gone = asyncio.Event()

    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        gone.set()

    listening = await asyncio.start_server(plain, "127.0.0.1", 0)
    with pytest.raises(SetupError) as caught:
        await open_stream(Peer("127.0.0.1", listening.sockets[0].getsockname()[1], tls_context()), plenty())
    assert caught.value.outcome is Outcome.TLS
    await gone.wait()
    listening.close()


async def test_an_unknown_host_is_a_dns_failure():
    with pytest.raises(SetupError) as caught:
        await open_stream(Peer("no-such-host.invalid", 80, None), plenty())
    assert caught.value.outcome is Outcome.DNS


async def test_a_closed_port_is_a_connect_failure():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    with pytest.raises(SetupError) as caught:
        await open_stream(Peer("127.0.0.1", port, None), plenty())
    assert caught.value.outcome is Outcome.CONNECT
    assert caught.value.detail == "Connection refused"


async def test_a_dead_address_costs_one_head_start_and_not_the_connection(monkeypatch):
    async with serving() as server:
        dead = socket.socket()
        dead.bind(("127.0.0.1", 0))
        dead.listen(0)
        fillers = [socket.socket() for _ in range(4)]  # a full backlog answers nothing
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(dead.getsockname())
        monkeypatch.setattr(network, "HEAD_START_S", 0.01)
        alive = (socket.AF_INET, ("127.0.0.1", server.port))
        found, step = await network._connect([(socket.AF_INET, dead.getsockname()), alive])
        assert found.getpeername()[1] == server.port
        info = read_tcp_info(found)
        if info is not None:
            assert step.stop - step.start == 10_000_000 + info.rtt_us * 1000  # one head start and one handshake
        for one in (found, dead, *fillers):
            one.close()


def test_a_dead_address_holds_up_the_next_by_what_rfc_8305_recommends():
    """Ten times as long and every probe of a host with a broken IPv6 would seem to connect in seconds."""
    loop = VirtualLoop()
    with socket.create_server(("127.0.0.1", 0)) as alive, socket.socket() as dead, socket.socket() as filler:
        dead.bind(("127.0.0.1", 0))
        dead.listen(0)  # one that waits fills the queue; the next is not answered
        filler.connect(dead.getsockname())
        addresses = [(socket.AF_INET, one.getsockname()) for one in (dead, alive)]
        found, step = run(loop, network._connect(addresses))
        with found:
            assert found.getpeername() == alive.getsockname()
    assert loop.time() == pytest.approx(0.25)
    assert step.stop - step.start >= 250_000_000


async def test_of_two_addresses_that_connect_at_once_the_one_that_is_not_used_is_closed(monkeypatch):
    opened: list[socket.socket] = []
    both = asyncio.Event()

    async def connect(*_: object) -> tuple[socket.socket, Step]:
        opened.append(own := socket.socket())
        if len(opened) == 2:
            both.set()
        await both.wait()
        return own, Step(0, 1)

    monkeypatch.setattr(network, "_try", connect)
    monkeypatch.setattr(network, "HEAD_START_S", 0.001)
    found, _ = await network._connect([(socket.AF_INET, ("192.0.2.1", 1)), (socket.AF_INET, ("192.0.2.2", 1))])
    try:
        assert [one for one in opened if one.fileno() >= 0] == [found]
    finally:
        for one in opened:
            one.close()


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


@pytest.mark.parametrize("scheme", ["https", "HTTPS", "wss", "WSS"])
def test_an_encrypted_address_is_never_opened_in_plain(scheme):
    """Without trust there is no transport to it, and with trust it is used."""
    url = f"{scheme}://api.example/v1"
    with pytest.raises(ValueError, match="is encrypted, and no certificate is trusted"):
        transport_to(url, None)
    trust = tls_context()
    assert parse_peer(url, trust) == ("api.example", 443, trust)


def test_a_plain_address_is_plain_though_there_is_trust():
    assert parse_peer("http://h:81", tls_context()) == ("h", 81, None)
    assert parse_peer("ws://h", tls_context()) == ("h", 80, None)
