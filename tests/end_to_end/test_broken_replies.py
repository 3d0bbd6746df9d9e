"""Statuses, empty bodies, broken records and streamed errors, byte for byte over real sockets, in every dialect."""

import json

import pytest

from probes.outcome import Outcome
from tests.servers.raw_server import Client
from tests.servers.raw_server import probed as sampled
from tests.servers.replay import RECORDS, answer, replay
from tests.wire.dialect_facts import facts, socket_dialects

TEXTS = ("One", " two", " three.")
every_dialect = pytest.mark.parametrize("dialect", RECORDS)
OVER_HTTP = [one for one in RECORDS if one not in socket_dialects()]


@pytest.mark.parametrize("dialect", OVER_HTTP)
@pytest.mark.parametrize("status", [200, 201, 202, 206, 299])
async def test_any_good_status_carries_a_stream(dialect: str, status: int):
    probed = await replay(dialect, answer(dialect, *TEXTS), status=status)
    assert (probed.sample.outcome, probed.sample.http_status) == (Outcome.OK, status)
    assert (probed.sample.output_tokens, probed.text) == (20, "One two three.")


@pytest.mark.parametrize("dialect", OVER_HTTP)
@pytest.mark.parametrize("pieces", [[], [b"\n"], [b" \r\n", b"\r\n"]])
@pytest.mark.parametrize("status", [200, 201])
async def test_a_good_status_without_a_body_is_empty(dialect: str, pieces: list[bytes], status: int):
    sample = (await replay(dialect, pieces, status=status)).sample
    assert (sample.outcome, sample.outcome_detail) == (Outcome.EMPTY, f"HTTP {status} with an empty body")


@pytest.mark.parametrize("dialect", OVER_HTTP)
async def test_a_body_that_breaks_off_before_its_first_byte_is_cut(dialect: str):
    assert (await replay(dialect, [], ending="cut")).sample.outcome is Outcome.CUT


BROKEN = {
    "no JSON": lambda records: records.frame('{"a":'),
    "text": lambda records: records.frame("upstream connect error"),
    "a list": lambda records: records.frame("[1, 2]"),
    "a string": lambda records: records.frame('"hello"'),
    "null": lambda records: records.frame("null"),
    "a number": lambda records: records.frame("17"),
    "nested too deep": lambda records: records.frame("[" * 20_000),
    "two objects": lambda records: records.frame('{"a": 1} {"b": 2}'),
    "not UTF-8": lambda records: records.output("XX").replace(b"XX", b"\xff\xfe"),
    "UTF-8 cut short": lambda records: records.output("XX").replace(b"XX", "é".encode()[:1]),
    "a number for text": lambda records: records.output("XX").replace(b'"XX"', b"17"),
    "a boolean for text": lambda records: records.output("XX").replace(b'"XX"', b"true"),
}


@every_dialect
@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_record_is_protocol(dialect: str, name: str):
    records = RECORDS[dialect]
    probed = await replay(dialect, [records.output("a"), BROKEN[name](records), *answer(dialect, "b")])
    assert (probed.sample.outcome, probed.text) == (Outcome.PROTOCOL, "a"), probed.sample
    assert probed.sample.outcome_detail


@every_dialect
async def test_a_value_where_an_object_must_be_is_protocol(dialect: str):
    records = RECORDS[dialect]
    for record in facts(dialect).misshapen:
        pieces = [records.output("a"), records.frame(json.dumps(record)), *answer(dialect, "b")]
        sample = (await replay(dialect, pieces)).sample
        assert sample.outcome is Outcome.PROTOCOL, (record, sample)
        assert " is not a" in (sample.outcome_detail or "")


@every_dialect
async def test_what_is_null_or_empty_or_left_out_is_not_broken(dialect: str):
    records = RECORDS[dialect]
    nothing = [records.frame(json.dumps(record)) for record in facts(dialect).nothing]
    probed = await replay(dialect, [*nothing, *answer(dialect, *TEXTS)])
    assert (probed.sample.outcome, probed.text) == (Outcome.OK, "One two three."), probed.sample


LITELLM = b'data: {"error": {"message": "litellm: boom", "type": null, "param": null, "code": "500"}}\n\n'
ERROR_BODIES = {
    "LiteLLM's Responses route": (500, LITELLM, Outcome.SERVER_ERROR, "litellm: boom"),
    "named and marked": (
        500,
        b'event: error\ndata: {"error": {"message": "boom"}}\n\ndata: [DONE]\n\n',
        Outcome.SERVER_ERROR,
        "boom",
    ),
    "over several lines": (
        503,
        b'data: {"error": {"message": "boom",\ndata:  "type": "overloaded_error"}}\n\n',
        Outcome.OVERLOADED,
        "boom (overloaded_error)",
    ),
    "behind a ping": (
        429,
        b": ping\n\nevent: ping\ndata: {}\n\n" + LITELLM,
        Outcome.RATE_LIMITED,
        "litellm: boom",
    ),
    "words": (502, b"event: error\ndata: upstream is gone\n\n", Outcome.SERVER_ERROR, "upstream is gone"),
    "lines": (429, b'{"error": "slow down"}\n{"done": true}\n', Outcome.RATE_LIMITED, "slow down"),
    "lines behind another": (
        400,
        b'{"status": "loading"}\n{"error": "no such option"}\n',
        Outcome.BAD_REQUEST,
        "no such option",
    ),
    "without its last blank line": (401, b'data: {"error": {"message": "bad key"}}', Outcome.AUTH, "bad key"),
    "JSON over lines": (
        404,
        b'{\n "error": {\n  "message": "no such model"\n }\n}\n',
        Outcome.NOT_FOUND,
        "no such model",
    ),
}


@pytest.mark.parametrize("dialect", OVER_HTTP)
@pytest.mark.parametrize("name", ERROR_BODIES)
async def test_an_error_that_is_streamed_is_read(dialect: str, name: str):
    status, body, outcome, words = ERROR_BODIES[name]
    sample = (await replay(dialect, [body], status=status)).sample
    assert (sample.outcome, sample.outcome_detail, sample.http_status) == (outcome, words, status)


@pytest.mark.parametrize(
    "head", [b"Content-Length: 0\r\n", b"Connection: close\r\n", b"Content-Type: text/event-stream\r\n"]
)
async def test_an_empty_body_is_empty_however_it_is_framed(head: bytes):
    async def script(client: Client) -> None:
        await client.request()
        await client.say(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n")

    assert (await sampled(script)).outcome is Outcome.EMPTY
