"""WebSockets over real sockets: upgrade timed apart, sockets kept, idle messages and closes known, refusals named."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from types import SimpleNamespace

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.frames import Frame, Opcode

from probes.endpoint import Timeouts
from probes.measure.probe import Prober
from probes.outcome import Outcome
from probes.sockets.errors import ExchangeError
from probes.tls.context import tls_context
from probes.transport import websocket
from probes.transport.base import SetupError, UpgradeRefused
from probes.transport.factory import transport_to
from probes.transport.websocket import WebSocketConnection
from probes.wire import load_dialect
from probes.wire.dialect import WireRequest
from tests.samples import endpoint
from tests.servers.certificate import server_context
from tests.servers.raw_server import Client, probed, response, serving
from tests.sockets.pairs import first_of, plenty

Handler = Callable[[ServerConnection], Awaitable[None]]


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(f"you said {message}")


def port_of(server: Server) -> int:
    return next(iter(server.sockets)).getsockname()[1]


@asynccontextmanager
async def socket_to(
    handler: Handler = echo, **options: object
) -> AsyncIterator[tuple[WebSocketConnection, WireRequest, Server]]:
    async with serve(handler, "127.0.0.1", 0, ping_interval=None, **options) as server:
        url = f"ws://127.0.0.1:{port_of(server)}/v1/responses"
        one = WebSocketConnection(url, None)
        try:
            yield one, WireRequest(url, {"authorization": "Bearer k", "x-extra": "1"}, b'{"a":1}'), server
        finally:
            one.drop()


async def said(one: WebSocketConnection, wire: WireRequest) -> bytes:
    reply = await one.send(wire)
    got = []
    await reply.body.read_while(lambda stamp, message: bool(got.append((stamp, message))))
    [(stamp, message)] = got
    assert one.sent is not None
    assert one.sent.at <= stamp.at
    return message


async def test_a_socket_is_upgraded_once_and_kept():
    seen = []

    async def handler(connection: ServerConnection) -> None:
        seen.append(connection.request)
        await echo(connection)

    async with socket_to(handler) as (one, wire, _):
        setup = await one.open(wire, plenty())
        assert setup is not None
        assert setup.upgrade is not None
        assert setup.connect.stop <= setup.upgrade.start <= setup.upgrade.stop
        assert await said(one, wire) == b'you said {"a":1}\n'
        assert await one.open(wire, plenty()) is None
        assert await said(one, wire) == b'you said {"a":1}\n'
    assert len(seen) == 1
    assert seen[0].path == "/v1/responses"
    assert seen[0].headers["authorization"] == "Bearer k"
    assert seen[0].headers["x-extra"] == "1"
    assert "Sec-WebSocket-Extensions" not in seen[0].headers, "a compressor would hold tokens back"


async def test_the_headers_of_the_upgrade_are_the_first_responses():
    def limits(_, __, response):
        response.headers["x-ratelimit-remaining-requests"] = "7"

    async with socket_to(process_response=limits) as (one, wire, _):
        await one.open(wire, plenty())
        assert (await one.send(wire)).headers["x-ratelimit-remaining-requests"] == "7"
        assert (await one.send(wire)).headers == {}


async def test_a_refused_upgrade_is_an_http_answer():
    def refuse(connection, _):
        response = connection.respond(HTTPStatus.TOO_MANY_REQUESTS, json.dumps({"error": {"message": "slow down"}}))
        response.headers["Retry-After"] = "7"
        return response

    async with socket_to(process_request=refuse) as (one, wire, _):
        with pytest.raises(UpgradeRefused) as caught:
            await one.open(wire, plenty())
        reply = caught.value.response
        assert reply.status == 429
        assert reply.headers["retry-after"] == "7"
        assert b"slow down" in await first_of(reply.body)


@pytest.mark.parametrize(
    ("answer", "limit", "outcome", "words"),
    [
        (response(401), 60, Outcome.AUTH, "HTTP 401"),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", 60, Outcome.CONNECT, "upgrade: "),
        (b"", 0.2, Outcome.TIMEOUT, "connect: the upgrade has not ended: nothing within 0.2 s"),
    ],
    ids=["refused", "no WebSocketConnection", "hangs"],
)
async def test_an_upgrade_that_fails_keeps_the_time_of_the_connection_before_it(
    answer, limit, outcome, words, monkeypatch
):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")  # no proxy would help: the server was reached

    async def script(client: Client) -> None:
        await client.request()
        await client.say(answer)
        await client.hold()

    sample = await probed(script, "openai_responses_ws", timeouts=Timeouts(connect=limit))
    assert (sample.outcome, (sample.outcome_detail or "")[: len(words)]) == (outcome, words)
    assert "ignored" not in (sample.outcome_detail or "")
    assert sample.connect_ms is not None
    assert sample.upgrade_ms is None


async def test_a_server_that_speaks_no_websocket_fails_the_set_up():
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        writer.close()

    listening = await asyncio.start_server(plain, "127.0.0.1", 0)
    url = f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    one = WebSocketConnection(url, None)
    with pytest.raises(SetupError) as caught:
        await one.open(WireRequest(url, {}, b""), plenty())
    assert caught.value.outcome is Outcome.CONNECT
    one.drop()
    listening.close()


async def test_messages_between_requests_are_dropped_and_pings_are_answered():
    answered = asyncio.Event()

    async def handler(connection: ServerConnection) -> None:
        await connection.send('{"type":"error","error":{"code":"idle"}}')
        await (await connection.ping())
        answered.set()
        await echo(connection)

    async with socket_to(handler) as (one, wire, _):
        await one.open(wire, plenty())
        await answered.wait()
        assert one.is_open
        assert await said(one, wire) == b'you said {"a":1}\n'


async def test_an_idle_close_is_known_and_the_next_opening_is_a_new_socket():
    closing = asyncio.Event()
    opened = 0

    async def handler(connection: ServerConnection) -> None:
        nonlocal opened
        opened += 1
        if opened == 1:
            await closing.wait()
            await connection.close(1001, "going away")
        else:
            await echo(connection)

    async with socket_to(handler) as (one, wire, _):
        await one.open(wire, plenty())
        closing.set()
        while one.is_open:
            await asyncio.sleep(0)
        assert await one.open(wire, plenty()) is not None
        assert await said(one, wire) == b'you said {"a":1}\n'


CLOSES = [
    (1000, "", Outcome.CUT),
    (1001, "going away", Outcome.CUT),
    (1002, "protocol error", Outcome.PROTOCOL),
    (1008, "", Outcome.BAD_REQUEST),
    (1008, "policy violation", Outcome.BAD_REQUEST),
    (1008, "quota exceeded", Outcome.QUOTA),
    (1008, "You exceeded your current quota, please check your plan and billing details", Outcome.QUOTA),
    (1008, "Rate limit reached, please try again in 20s", Outcome.RATE_LIMITED),
    (1008, "Invalid API key", Outcome.AUTH),
    (1009, "message too big", Outcome.BAD_REQUEST),
    (1011, "Internal server error", Outcome.SERVER_ERROR),
    (1011, "", Outcome.SERVER_ERROR),
    (1011, "The model is overloaded", Outcome.OVERLOADED),
    (1012, "service restart", Outcome.OVERLOADED),
    (1013, "Try again later", Outcome.OVERLOADED),
    (1014, "bad gateway", Outcome.SERVER_ERROR),
    (3000, "", Outcome.AUTH),
    (4000, "", Outcome.CUT),
    (4401, "", Outcome.AUTH),
    (4429, "", Outcome.RATE_LIMITED),
    (4503, "", Outcome.OVERLOADED),
]


@pytest.mark.parametrize(("code", "reason", "outcome"), CLOSES)
async def test_a_close_in_the_midst_of_an_answer_is_what_its_words_and_its_code_say(
    code: int, reason: str, outcome: Outcome
):
    async def script(client: Client) -> None:
        await client.upgrade()
        await client.message(b'{"type":"response.created","response":{"id":"r"}}')
        await client.close(code, reason)
        await client.hold()

    sample = await probed(script, "openai_responses_ws")
    assert sample.outcome is outcome, sample.outcome_detail
    assert sample.outcome_detail == f"the server closed the socket: {code} {reason}".strip()
    assert sample.retry_after_s == (20 if "20s" in reason else None)


async def test_a_socket_that_ends_without_a_close_is_a_cut():
    async def script(client: Client) -> None:
        await client.upgrade()
        await client.message(b'{"type":"response.created","response":{"id":"r"}}')

    sample = await probed(script, "openai_responses_ws")
    assert sample.outcome is Outcome.CUT
    assert "1006" in (sample.outcome_detail or "")


PRETTY = """{
  "type": "response.output_text.delta",
  "delta": "Hello,\\nworld"
}"""
ENDED = json.dumps({"type": "response.completed", "response": {"status": "completed"}}, indent=2)


async def test_a_message_may_have_line_ends_between_its_tokens():
    """As a server writes them that prints its JSON for people, in one frame and cut into fragments at a line end."""

    async def script(client: Client) -> None:
        await client.upgrade()
        await client.message(PRETTY.encode())
        begin, rest = PRETTY.replace("\n", "\r\n").split("\r\n", 1)
        await client.say(Frame(Opcode.TEXT, begin.encode() + b"\r\n", fin=False).serialize(mask=False))
        await client.say(Frame(Opcode.CONT, rest.encode()).serialize(mask=False))
        await client.message(ENDED.encode())
        await client.hold()

    sample = await probed(script, "openai_responses_ws")
    assert (sample.outcome, sample.chunks) == (Outcome.OK, 2), sample.outcome_detail
    assert sample.output_chars == 2 * len("Hello,\nworld")


async def test_a_message_beyond_the_limit_is_a_protocol_error():
    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.send("x" * (2 << 20))

    async with socket_to(handler) as (one, wire, _):
        await one.open(wire, plenty())
        reply = await one.send(wire)
        with pytest.raises(ExchangeError) as caught:
            await first_of(reply.body)
    assert caught.value.outcome is Outcome.PROTOCOL


async def test_an_old_socket_is_renewed_ahead_of_the_servers_limit(monkeypatch):
    async with socket_to() as (one, wire, _):
        await one.open(wire, plenty())
        assert await one.open(wire, plenty()) is None
        monkeypatch.setattr(websocket, "RENEW_AFTER_NS", 0)
        assert await one.open(wire, plenty()) is not None


async def test_a_message_in_fragments_is_one_message():
    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.send(["{", '"type":', '"x"}'])

    async with socket_to(handler) as (one, wire, _):
        await one.open(wire, plenty())
        assert await said(one, wire) == b'{"type":"x"}\n'


async def test_tls_and_upgrade_are_timed_apart(tmp_path, monkeypatch):
    context, authority = server_context(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    async with serve(echo, "127.0.0.1", 0, ssl=context, ping_interval=None) as server:
        url = f"wss://localhost:{port_of(server)}/v1"
        one = WebSocketConnection(url, tls_context())
        wire = WireRequest(url, {}, b"hello")
        setup = await one.open(wire, plenty())
        assert setup is not None
        assert setup.tls is not None
        assert setup.upgrade is not None
        assert setup.connect.stop <= setup.tls.start < setup.tls.stop <= setup.upgrade.start < setup.upgrade.stop
        assert await said(one, wire) == b"you said hello\n"
        one.drop()


async def test_a_header_with_a_line_end_is_refused():
    async with socket_to() as (one, wire, _):
        with pytest.raises(ValueError, match="line end"):
            await one.open(WireRequest(wire.url, {"authorization": "k\r\nHost: other"}, b""), plenty())


LIMIT = {
    "type": "error",
    "status": 400,
    "error": {
        "type": "invalid_request_error",
        "code": "websocket_connection_limit_reached",
        "message": "Responses websocket connection limit reached (60 minutes). Create a new websocket connection.",
    },
}


async def test_a_socket_that_is_too_old_for_the_server_is_renewed_and_the_probe_does_not_fail():
    """What the server says at 60 minutes, sent in answer to a request: it goes to a new socket, and says so."""
    sockets = 0

    async def script(client: Client) -> None:
        nonlocal sockets
        sockets += 1
        await client.upgrade()
        await client.message(json.dumps({"type": "response.output_text.delta", "delta": "Hello"}).encode())
        await client.message(ENDED.encode())
        await client.reader.read(1 << 16)
        await client.message(json.dumps(LIMIT).encode())
        await client.close(1001)

    async with serving(script) as port:
        url = f"ws://127.0.0.1:{port}/v1"
        watched = endpoint(dialect="openai_responses_ws", base_url=url)
        prober = Prober(watched, load_dialect("openai_responses_ws"), transport_to(url, None))
        first, second = (await prober.probe(None)).sample, (await prober.probe(None)).sample
        prober.close()
    assert (first.outcome, first.connection, first.reopened) == (Outcome.OK, "cold", False)
    assert (second.outcome, second.connection, second.reopened) == (Outcome.OK, "cold", True), second.outcome_detail
    assert sockets == 2


async def test_a_new_socket_that_is_refused_with_the_same_words_is_a_cut():
    async def script(client: Client) -> None:
        await client.upgrade()
        await client.message(json.dumps(LIMIT).encode())
        await client.hold()

    sample = await probed(script, "openai_responses_ws")
    assert (sample.outcome, sample.reopened) == (Outcome.CUT, False)
    assert "60 minutes" in (sample.outcome_detail or "")


@pytest.mark.parametrize(("minutes", "serves"), [(50, True), (58, False)])
async def test_a_socket_is_renewed_before_the_server_closes_it_at_sixty_minutes(monkeypatch, minutes, serves):
    """A probe may take two minutes: one that began later than this would be cut by OpenAI's limit, and be its fault."""
    async with socket_to() as (one, wire, _):
        await one.open(wire, plenty())
        later = SimpleNamespace(monotonic_ns=lambda: time.monotonic_ns() + minutes * 60_000_000_000)
        monkeypatch.setattr(websocket, "time", later)
        assert one.is_open is serves
        assert (await one.open(wire, plenty()) is None) is serves
