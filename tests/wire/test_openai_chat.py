"""The openai_chat dialect: what it makes of every look-alike's stream."""

import json
import random
import tracemalloc

import pytest

from probes.events import EVENT_LIMIT, Failure, Finish, Kind, Output, Queued, ServedBy, ServerTimes, StreamEnd, Usage
from probes.outcome import Outcome
from probes.wire.openai_chat import DIALECT
from tests.wire import streams
from tests.wire.dialect_facts import DialectFacts
from tests.wire.streams import chunk, records


def read(*pieces):
    reader = DIALECT.reader()
    events = [event for piece in pieces for event in reader.feed(piece)]
    return events + list(reader.close())


def of(events, sort):
    return [one for one in events if isinstance(one, sort)]


def outputs(events):
    return [(one.kind, one.text) for one in of(events, Output)]


STREAMS = streams.ALL

FACTS = DialectFacts(
    stop="stop",
    cap="length",
    records=streams.Records(),
    misshapen=[{"choices": "x"}, {"choices": [3]}, {"choices": [{"delta": "x"}]}, {"choices": {"delta": {}}}],
    nothing=[{}, {"choices": None}, {"choices": [None]}, {"choices": [{"delta": None}, {"delta": []}]}],
    speed_bases=("output", "answer", "output", "answer", None, "answer", None),
    keep_alive=b": ping\n\n",
)

ANSWER, REASONING = Kind.ANSWER, Kind.REASONING


@pytest.mark.parametrize(
    ("name", "output", "usage", "times"),
    [
        ("openai", [(ANSWER, "Hel"), (ANSWER, "lo\u2028!")], Usage(9, 4, 303, 300), None),
        (
            "cerebras",
            [(REASONING, "Let me think"), (REASONING, " about it."), (ANSWER, "Forty-two, of course")],
            Usage(12, 0, 104, 80),
            ServerTimes(0.5, 2.0, 52.0, 2000.0),
        ),
        (
            "groq",
            [(REASONING, "Hm"), (ANSWER, "Yes")],
            Usage(18, None, 662),
            ServerTimes(48.5, 0.2, 2650.0, 249.811),
        ),
        (
            "mistral",
            [(REASONING, "Okay"), (REASONING, ", so"), (ANSWER, "The answer"), (ANSWER, " is 4.")],
            Usage(10, None, 77),
            None,
        ),
        ("deepseek", [(REASONING, "We"), (ANSWER, "Hi")], Usage(20, 16, 218, 205), None),
        ("openrouter", [(REASONING, "Sure"), (ANSWER, "One")], Usage(30, 0, 12, None, 0.0000135), None),
        ("kimi", [(REASONING, "The"), (ANSWER, "Done")], Usage(11, 8, 60), None),
        ("vllm", [(REASONING, "a b"), (ANSWER, " c")], Usage(5, None, 5), None),
        ("llama_cpp", [(ANSWER, "Once")], Usage(7, 3, 64), ServerTimes(None, 12.5, 800.0, 80.0)),
        ("llama_cpp_per_token", [(ANSWER, "On"), (ANSWER, "ce upon")], Usage(6, 2, 3), ServerTimes(None, 9.0, 25.0)),
        ("sambanova", [(ANSWER, "Hey")], Usage(9, None, 100), ServerTimes(None, 250.0, 500.0, 198.5)),
        ("fireworks", [(REASONING, "Let"), (ANSWER, "Ok")], Usage(8, 0, 50), ServerTimes(None, 120.0, 500.0)),
        ("ollama", [(REASONING, "Hmm"), (ANSWER, "Hi")], Usage(6, None, 9), None),
        ("lm_studio", [(REASONING, "So"), (ANSWER, "Yes")], Usage(4, None, 6), None),
        ("together", [(ANSWER, "He"), (ANSWER, "y")], Usage(3, None, 2), None),
        (
            "mercury",
            [(ANSWER, "The quick brown fox "), (ANSWER, "The quick brown fox jumps.")],
            Usage(9, None, 11),
            None,
        ),
        (
            "mercury_drafts",
            [(ANSWER, "Teh qui%k"), (ANSWER, "The quick br!wn"), (ANSWER, "The quick brown fox")],
            Usage(9, None, 5),
            None,
        ),
        ("xai", [(ANSWER, "Hi")], Usage(12, None, 342, 340), None),
    ],
)
def test_streams_of_the_look_alikes(name, output, usage, times):
    events = read(STREAMS[name])
    assert outputs(events) == output
    assert of(events, Usage)[-1] == usage
    assert [*of(events, ServerTimes), None][-1 if times is None else -2] == times
    assert of(events, Finish) == [Finish("length" if name in {"mistral", "llama_cpp_per_token"} else "stop")]
    assert events[-1] == StreamEnd()
    assert not of(events, Failure)


@pytest.mark.parametrize("name", STREAMS)
def test_any_cut_of_the_bytes_gives_the_same_events(name):
    body = STREAMS[name]
    whole = read(body)
    for at in range(0, len(body) + 1, 3 if len(body) > 1200 else 1):
        assert read(body[:at], body[at:]) == whole, at
    assert read(*(body[at : at + 1] for at in range(len(body)))) == whole
    dice = random.Random(name)
    for _ in range(30):
        cuts = sorted(dice.choices(range(len(body) + 1), k=dice.randint(2, 40)))
        assert read(*(body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True))) == whole, cuts


def test_running_usage_goes_with_the_output_that_carried_it():
    tokens = [one.tokens for one in of(read(streams.VLLM), Output)]
    assert tokens == [3, 4]
    assert [one.tokens for one in of(read(streams.LLAMA_CPP_PER_TOKEN), Output)] == [1, 3]
    assert [one.tokens for one in of(read(streams.OPENAI), Output)] == [None, None]


@pytest.mark.parametrize(
    ("name", "served"),
    [
        ("openai", ServedBy("gpt-5.4-nano", "default", None, "chatcmpl-1")),
        ("groq", ServedBy("openai/gpt-oss-20b", "on_demand", None, "req_01")),
        ("openrouter", ServedBy("openai/gpt-oss-120b", None, "Cerebras", "chatcmpl-1")),
    ],
)
def test_what_really_served(name, served):
    found = of(read(STREAMS[name]), ServedBy)
    assert found[-1] == served
    assert len(found) <= 2


@pytest.mark.parametrize(
    "delta",
    [
        {"role": "assistant"},
        {"role": "assistant", "content": ""},
        {"content": None, "reasoning_content": None, "refusal": None, "tool_calls": None},
        {"content": []},
        {"content": [{"type": "text", "text": ""}, {"type": "reference", "reference_ids": [1]}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2VjcmV0"}]},
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "", "arguments": ""}}]},
        {"audio": {"id": "x"}},
        {},
        None,
    ],
)
def test_what_is_no_output(delta):
    assert outputs(read(records(chunk(delta)))) == []


@pytest.mark.parametrize(
    ("delta", "output"),
    [
        ({"content": "\n"}, [(ANSWER, "\n")]),
        ({"thinking": "hm"}, [(REASONING, "hm")]),
        ({"reasoning": "", "reasoning_content": "hm"}, [(REASONING, "hm")]),
        ({"reasoning_content": "hm", "content": "so"}, [(REASONING, "hm"), (ANSWER, "so")]),
        ({"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]}, [(REASONING, "hm")]),
        ({"refusal": "I cannot"}, [(Kind.REFUSAL, "I cannot")]),
        (
            {"content": [{"type": "refusal", "refusal": "No"}, "yes", {"text": "!"}]},
            [(Kind.REFUSAL, "No"), (ANSWER, "yes!")],
        ),
        ({"content": {"type": "text", "text": "one part"}}, [(ANSWER, "one part")]),
        ({"tool_calls": [{"function": {"arguments": '{"a'}}, {"function": {"arguments": "b"}}]}, [(Kind.TOOL, '{"ab')]),
        ({"tool_calls": [{"type": "custom", "custom": {"input": "ls"}}]}, [(Kind.TOOL, "ls")]),
        ({"function_call": {"name": "f", "arguments": "{}"}}, [(Kind.TOOL, "f{}")]),
        (
            {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]},
            [(Kind.TOOL, "f")],
        ),
    ],
)
def test_what_is_output(delta, output):
    assert outputs(read(records(chunk(delta)))) == output


def test_legacy_text_counts_where_there_is_no_delta():
    assert outputs(read(records({"choices": [{"index": 0, "text": "old"}]}))) == [(ANSWER, "old")]


def test_only_the_choice_of_index_0_is_read():
    one = {"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}
    both = {"choices": [one, {"index": 0, "delta": {"content": "mine"}}]}
    assert outputs(read(records({"choices": [one]}, both))) == [(ANSWER, "mine")]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 1, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 9}},
            Usage(1, None, 9, 9),
        ),
        ({"completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 5}}, Usage(None, None, 7, 5)),
        (
            {"prompt_tokens": 10, "completion_tokens": 50, "total_tokens": 100, "reasoning_tokens": 40},
            Usage(10, None, 90, 40),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 50, "total_tokens": 60, "reasoning_tokens": 40},
            Usage(10, None, 50, 40),
        ),
        ({"prompt_tokens": "many", "completion_tokens": -1, "cost": float("inf")}, None),
        ({"prompt_tokens": "7", "completion_tokens": "12", "cost": "0.5"}, Usage(7, None, 12, cost_usd=0.5)),
        ({"prompt_tokens": 10**400, "completion_tokens": True, "total_tokens": [], "cost": 0}, Usage(cost_usd=0.0)),
        ({"prompt_tokens": 3.0, "completion_tokens": 2.5, "prompt_tokens_details": [1]}, Usage(3)),
    ],
)
def test_counts_include_the_reasoning_and_nothing_absurd(usage, expected):
    assert of(read(records({"choices": [], "usage": usage})), Usage) == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("body", "outcome", "detail"),
    [
        (streams.OPENROUTER_ERROR, Outcome.SERVER_ERROR, "Provider disconnected unexpectedly (provider_unavailable)"),
        (streams.VLLM_ERROR, Outcome.SERVER_ERROR, "EngineCore died (InternalServerError)"),
        (
            b'event: error\ndata: {"error":{"message":"Too many","code":"queue_exceeded"},"status_code":429}\n\n',
            Outcome.OVERLOADED,
            "Too many (queue_exceeded)",
        ),
        (
            records({"error": {"message": "Slow down", "type": "too_many_tokens_error"}, "status_code": 429}),
            Outcome.RATE_LIMITED,
            "Slow down (too_many_tokens_error)",
        ),
        (records(chunk({}, x_groq={"id": "req_1", "error": "over_capacity"})), Outcome.STREAM_ERROR, "over_capacity"),
        (records({"error": "runner stopped"}), Outcome.STREAM_ERROR, "runner stopped"),
        (records({"object": "error", "message": "bad", "code": 400}), Outcome.BAD_REQUEST, "bad"),
        (
            records({"message": "slow down", "type": "too_many_requests_error"}),
            Outcome.RATE_LIMITED,
            "slow down (too_many_requests_error)",
        ),
        (records([{"error": {"message": "gone", "code": 404}}]), Outcome.NOT_FOUND, "gone"),
        (b"event: error\ndata: worker lost\n\n", Outcome.STREAM_ERROR, "worker lost"),
        (b"event: error\ndata: {}\n\n", Outcome.STREAM_ERROR, "an error without words"),
        (records(chunk({}, "error")), Outcome.STREAM_ERROR, "finish reason: error"),
        (
            b'{"error": {"message": "no credit", "type": "insufficient_quota"}}',
            Outcome.QUOTA,
            "no credit (insufficient_quota)",
        ),
        (b'{"choices": [{"message": {"content": "hi"}}]}', Outcome.PROTOCOL, "a whole JSON answer instead of a stream"),
        (b"<html><title>Log in</title></html>", Outcome.PROTOCOL, "not an event stream: Log in"),
        (b"data: {nope\n\n", Outcome.PROTOCOL, "not JSON: {nope"),
        (b"data: " + b"[" * 90_000 + b"\n\n", Outcome.PROTOCOL, "not JSON: " + "[" * 200),
        (b"data: " + b"9" * 5000 + b"\n\n", Outcome.PROTOCOL, "not JSON: " + "9" * 200),
        (b"data: 3\n\n", Outcome.PROTOCOL, "not an object: 3"),
        (b"data: " + b" " * EVENT_LIMIT + b"\n\n", Outcome.PROTOCOL, "an event of more than 262,144 bytes"),
        (b"", Outcome.CUT, "the stream ended before its first record"),
        (b": keep-alive\n\n", Outcome.CUT, "the stream ended before its first record"),
        (records(chunk({"content": "x"}), end=""), Outcome.CUT, "the stream ended without a finish reason or [DONE]"),
    ],
)
def test_streams_that_end_in_a_failure(body, outcome, detail):
    events = read(body)
    assert (events[-1].outcome, events[-1].detail) == (outcome, detail)
    assert len(of(events, Failure)) == 1
    assert not of(events, StreamEnd)


def test_output_before_an_error_is_kept_and_what_follows_is_not():
    events = read(streams.VLLM_ERROR, records(chunk({"content": "late"})))
    assert outputs(events) == [(ANSWER, "x")]
    assert isinstance(events[-1], Failure)


def test_a_finish_reason_makes_the_answer_whole_without_done():
    body = records(chunk({"content": "x"}), chunk({}, "stop"), "unknown: field\n\n", end="")
    assert read(body)[-1] == StreamEnd("the response ended without [DONE]")
    cut = records(chunk({"content": "x"}), chunk({}, "stop"), end='{"error": "lost"}\n')
    assert read(cut)[-1] == Failure(Outcome.STREAM_ERROR, "lost")


def test_a_dedicated_deployment_of_fireworks_tells_queue_and_prefill_apart():
    spans = {"prefill-queue-duration": "0.030", "prefill-duration": "0.080", "generation-duration": "0.400"}
    metrics = {"server-time-to-first-token": "0.115", "server-processing-time": "0.520", **spans}
    events = read(records(chunk({"content": "x"}), chunk({}, "stop", perf_metrics=metrics)))
    assert of(events, ServerTimes) == [ServerTimes(queue_ms=30.0, prefill_ms=80.0, decode_ms=400.0)]


def test_keep_alives_before_the_first_event_are_a_queue():
    assert read(streams.DEEPSEEK)[:2] == [Queued(), Queued()]
    other = records(":\n\n: OPENROUTER PROCESSING\n\n", chunk({"content": "x"}), ": keep-alive\n\n", chunk({}, "stop"))
    assert not of(read(other), Queued)
    assert of(read(b": keep-alive\n\n: keep-al"), Queued) == [Queued()]


def test_nothing_after_done_counts():
    reader = DIALECT.reader()
    assert StreamEnd() in reader.feed(streams.OPENAI)
    assert reader.feed(streams.OPENAI) == []
    assert reader.close() == []


def test_the_end_is_known_when_its_last_byte_is_there():
    reader = DIALECT.reader()
    assert reader.feed(b"data: [DONE]\n") == []
    assert reader.feed(b"\n") == [StreamEnd()]


JUNK = [
    "null",
    "[]",
    "{}",
    "true",
    "-1",
    "1e999",
    "NaN",
    "9" * 400,
    '"\\ud800"',
    "[[[[1]]]]",
    '"x"',
    "[null]",
    '{"a":[{}]}',
]


def test_whatever_comes_nothing_raises_and_memory_stays_bounded():
    dice = random.Random(5)
    bodies = list(STREAMS.values())
    tracemalloc.start()
    for _ in range(800):
        body = bytearray(dice.choice(bodies))
        for _ in range(dice.randint(1, 8)):
            at = dice.randrange(len(body) + 1)
            new = dice.choice([dice.randbytes(3), b"\n", b"\r", b"data:", b'"', b"}", dice.choice(JUNK).encode()])
            body[at : at + dice.randint(0, 9)] = new
        events = read(bytes(body[: len(body) // 2]), bytes(body[len(body) // 2 :]))
        assert sum(isinstance(one, StreamEnd | Failure) for one in events) == 1
        assert isinstance(events[-1], StreamEnd | Failure)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_any_value_of_any_type_anywhere_is_survived():
    def mutants(value):
        yield from (json.loads(one) for one in JUNK)
        if isinstance(value, dict):
            for key, below in value.items():
                yield from ({**value, key: new} for new in mutants(below))
        if isinstance(value, list) and value:
            yield from ([new, *value[1:]] for new in mutants(value[0]))

    for name in ("cerebras", "mistral", "openrouter_error", "kimi", "llama_cpp", "groq"):
        for line in STREAMS[name].split(b"\n\n")[1:]:
            if line.startswith(b"data: {"):
                for mutant in mutants(json.loads(line[6:])):
                    events = read(b"data: " + json.dumps(mutant).encode() + b"\n\ndata: [DONE]\n\n")
                    for one in of(events, Usage):
                        assert all(
                            count is None or 0 <= count < 1 << 60 for count in (one.input, one.output, one.cached)
                        )
                    assert isinstance(events[-1], StreamEnd | Failure)
