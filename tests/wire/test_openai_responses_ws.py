"""Responses over a WebSocket, whole: the prober against a scripted server on a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from probes.events import Failure, StreamEnd
from probes.keys.secret import Secret
from probes.measure.probe import Prober
from probes.outcome import Outcome
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from probes.wire.credentials import Credentials
from probes.wire.openai_responses_ws import DIALECT
from tests.samples import endpoint
from tests.servers.simulated import has_speed
from tests.wire import responses_streams
from tests.wire.dialect_facts import DialectFacts

SECRET = Secret("sk-planted-key-0123456789")
KEY = Credentials(SECRET)
WORDS = ["Once ", "upon ", "a ", "time ", "there ", "was ", "light."]


def delta(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": text, "sequence_number": 1}


def completed(**fields: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 9,
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 16,
    }
    response = {"id": "resp_1", "model": "spark", "status": "completed", "service_tier": "ultrafast", "usage": usage}
    return {"type": "response.completed", "response": {**response, **fields}}


STORY = [{"type": "response.created", "response": {"id": "resp_1"}}, *map(delta, WORDS), completed()]

FAILURE = [delta("Once "), {"type": "error", "status": 500, "error": {"code": "server_error", "message": "oops"}}]
STREAMS = {
    name: b"".join(json.dumps(one).encode() + b"\n" for one in script)
    for name, script in {"story": STORY, "failure": FAILURE}.items()
}
"""Messages as the reader gets them, a line each."""


FACTS = DialectFacts(
    stop="completed",
    cap="max_output_tokens",
    records=responses_streams.Records(over_socket=True),
    misshapen=[{"type": "response.completed", "response": [1]}],
    nothing=[{}, {"type": "response.output_text.delta", "delta": ""}],
    speed_bases=("output", "output", "output", "answer", None, "answer", None),
    keep_alive=b'{"type":"keepalive"}',
    thoughts={"reasoning": {"summary": "auto"}},
)


class Scripted:
    """Answers every ``response.create`` with a script, 15 ms between its messages."""

    def __init__(self, *scripts: list[dict[str, Any]]) -> None:
        self.scripts = list(scripts)
        self.received: list[dict[str, Any]] = []
        self.upgrades: list[Any] = []
        self.after: Callable[[ServerConnection], Any] | None = None

    async def serve(self, connection: ServerConnection) -> None:
        self.upgrades.append(connection.request)
        async for message in connection:
            self.received.append(json.loads(message))
            for event in self.scripts[min(len(self.received), len(self.scripts)) - 1]:
                await connection.send(json.dumps(event))
                await asyncio.sleep(0.015)
            if self.after is not None:
                await self.after(connection)


@asynccontextmanager
async def prober(script: Scripted, **options: Any) -> AsyncIterator[Prober]:
    async with serve(script.serve, "127.0.0.1", 0, ping_interval=None, **options) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1"
        watched = endpoint(
            dialect="openai_responses_ws", base_url=url, model="spark", body={"service_tier": "ultrafast"}
        )
        one = Prober(watched, load_dialect("openai_responses_ws"), transport_to(url, None))
        try:
            yield one
        finally:
            one.close()


async def test_one_socket_serves_many_probes():
    script = Scripted(STORY)
    async with prober(script) as one:
        probed = [await one.probe(KEY) for _ in range(3)]
    samples = [each.sample for each in probed]
    assert [sample.outcome for sample in samples] == [Outcome.OK] * 3, samples
    assert [sample.connection for sample in samples] == ["cold", "warm", "warm"]
    assert [sample.upgrade_ms is None for sample in samples] == [False, True, True]
    assert {each.text for each in probed} == {"".join(WORDS)}
    assert {(sample.input_tokens, sample.output_tokens, sample.chunks) for sample in samples} == {(9, 7, 7)}
    assert {(sample.served_model, sample.served_tier) for sample in samples} == {("spark", "ultrafast")}
    assert all(has_speed(sample.tokens_per_s, sample.outcome_detail) for sample in samples)
    assert all(sample.ttfb_ms is None for sample in samples)
    assert len(script.upgrades) == 1
    assert script.upgrades[0].path == "/v1/responses"
    assert script.upgrades[0].headers["authorization"] == f"Bearer {SECRET.reveal()}"
    message = script.received[0]
    assert (message["type"], message["model"], message["service_tier"]) == ("response.create", "spark", "ultrafast")
    assert "stream" not in message
    assert "background" not in message


async def test_a_socket_opened_ahead_serves_a_warm_probe():
    async with prober(Scripted(STORY)) as one:
        await one.prepare(KEY)
        sample = (await one.probe(KEY)).sample
    assert (sample.connection, sample.upgrade_ms, sample.outcome) == ("warm", None, Outcome.OK)


LIMIT = {
    "type": "rate_limit_error",
    "code": "rate_limit_exceeded",
    "message": "slow down",
    "headers": {"Retry-After": "9", "X-RateLimit-Limit-Tokens": "6000", "X-RateLimit-Remaining-Tokens": 0},
}


@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        ({"type": "error", "status": 429, "error": LIMIT}, Outcome.RATE_LIMITED),
        (
            {"type": "error", "status": 429, "error": {"code": "insufficient_quota", "message": "no credit"}},
            Outcome.QUOTA,
        ),
        ({"type": "error", "code": "server_error", "message": "oops"}, Outcome.SERVER_ERROR),
        (
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "x"}}},
            Outcome.SERVER_ERROR,
        ),
    ],
)
async def test_an_error_message_is_an_outcome_and_the_next_probe_is_sound(last, outcome):
    async with prober(Scripted([delta("Once "), last], STORY)) as one:
        failed, good = (await one.probe(KEY)).sample, (await one.probe(KEY)).sample
    assert failed.outcome is outcome, failed.outcome_detail
    assert failed.retry_after_s == (9 if outcome is Outcome.RATE_LIMITED else None)
    assert failed.tokens_remaining == (0 if outcome is Outcome.RATE_LIMITED else None), "the error's own headers"
    assert good.outcome is Outcome.OK


async def test_a_socket_that_closes_in_the_midst_says_why():
    script = Scripted([delta("Once ")])

    async def go(connection: ServerConnection) -> None:
        await connection.close(1011, "too busy")

    script.after = go
    async with prober(script) as one:
        sample = (await one.probe(KEY)).sample
    assert (sample.outcome, sample.ttft_ms is None) == (Outcome.SERVER_ERROR, False)
    assert "1011" in (sample.outcome_detail or "")


@pytest.mark.parametrize(
    ("status", "outcome"), [(401, Outcome.AUTH), (429, Outcome.RATE_LIMITED), (503, Outcome.OVERLOADED)]
)
async def test_a_refused_upgrade_is_the_outcome_of_its_status(status, outcome):
    def refuse(connection, _):
        response = connection.respond(HTTPStatus(status), f'{{"error": {{"message": "no: {SECRET.reveal()}"}}}}')
        response.headers["Retry-After"] = "3"
        return response

    async with prober(Scripted(STORY), process_request=refuse) as one:
        sample = (await one.probe(KEY)).sample
    assert (sample.outcome, sample.http_status, sample.retry_after_s) == (outcome, status, 3)
    assert SECRET.reveal() not in repr(sample)


def test_messages_cut_anywhere_are_the_same_events():
    lines = STREAMS["story"]
    whole = list(DIALECT.reader().feed(lines))
    assert isinstance(whole[-1], StreamEnd)
    for size in (1, 2, 7, 50):
        reader = DIALECT.reader()
        events = [event for at in range(0, len(lines), size) for event in reader.feed(lines[at : at + size])]
        assert events == whole


def test_an_end_without_a_terminal_event_is_a_cut():
    reader = DIALECT.reader()
    reader.feed(json.dumps(delta("Once ")).encode() + b"\n")
    [last] = reader.close()
    assert isinstance(last, Failure)
    assert last.outcome is Outcome.CUT
