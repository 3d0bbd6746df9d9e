"""Tool calls in every dialect: the record with the name is output too, a name that is sent again counts once."""

import json
from typing import Any

import pytest

from probes.events import Kind, Output, Usage
from probes.figures import timing
from probes.figures.response import ResponseAccumulator
from probes.figures.timeline import Timeline
from probes.wire.anthropic import AnthropicReader
from probes.wire.bedrock_converse import BedrockReader
from probes.wire.chat_chunks import ChunkReader
from probes.wire.dialect import StreamReader
from probes.wire.gemini import GeminiReader
from probes.wire.ollama import OllamaReader
from probes.wire.openai_responses import ResponsesReader
from probes.wire.openai_responses_ws import ResponsesSocketReader
from tests.wire.dialect_facts import row, sse
from tests.wire.test_bedrock_converse import event as frame

RECORD_MS = 20
"""Every record comes so long after the one before it, the first so long after the request."""


def chat(**call: Any) -> bytes:
    return sse({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}}]})


def block(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, "index": 0, **fields}, kind)


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "output_index": 0, **fields}


CHAT = [
    sse({"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}),
    chat(id="call_1", type="function", function={"name": "get_weather", "arguments": ""}),
    chat(function={"arguments": '{"city": '}),
    chat(function={"arguments": '"Oslo"}'}),
]
ANTHROPIC = [
    sse({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 9}}}, "message_start"),
    block(
        "content_block_start", content_block={"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
    ),
    block("content_block_delta", delta={"type": "input_json_delta", "partial_json": '{"city": '}),
    block("content_block_delta", delta={"type": "input_json_delta", "partial_json": '"Oslo"}'}),
]
RESPONSES = [
    item("response.created", response={"id": "resp_1", "model": "m"}),
    item(
        "response.output_item.added",
        item={"type": "function_call", "id": "fc_1", "call_id": "c", "name": "get_weather", "arguments": ""},
    ),
    item("response.function_call_arguments.delta", delta='{"city": '),
    item("response.function_call_arguments.delta", delta='"Oslo"}'),
]
DONE = item(
    "response.output_item.done", item={"type": "function_call", "name": "get_weather", "arguments": '{"city": "Oslo"}'}
)
GEMINI = [
    sse({"candidates": [{"content": {"parts": [{"text": ""}]}}]}),
    sse({"candidates": [{"content": {"parts": [{"functionCall": {"name": "get_weather", "willContinue": True}}]}}]}),
    sse({"candidates": [{"content": {"parts": [
        {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Os", "willContinue": True}]}}
    ]}}]}),
    sse({"candidates": [{"content": {"parts": [
        {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "lo"}]}}
    ]}}]}),
]  # fmt: skip
OLLAMA = [
    row({"model": "m", "message": {"role": "assistant", "content": ""}, "done": False}),
    row({"model": "m", "message": {"tool_calls": [{"function": {"name": "get_weather", "arguments": {}}}]}}),
]
BEDROCK = [
    frame("messageStart", {"role": "assistant"}),
    frame(
        "contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "get_weather"}}}
    ),
    frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"city": '}}}),
    frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '"Oslo"}'}}}),
]
STREAMS: dict[str, tuple[type[StreamReader], list[bytes], str]] = {
    "openai_chat": (ChunkReader, CHAT, '{"city": "Oslo"}'),
    "anthropic": (AnthropicReader, ANTHROPIC, '{"city": "Oslo"}'),
    "openai_responses": (ResponsesReader, [*map(sse, RESPONSES), sse(DONE)], '{"city": "Oslo"}'),
    "openai_responses_ws": (ResponsesSocketReader, [*map(row, RESPONSES), row(DONE)], '{"city": "Oslo"}'),
    "gemini": (GeminiReader, GEMINI, "Oslo"),
    "ollama": (OllamaReader, OLLAMA, ""),
    "bedrock_converse": (BedrockReader, BEDROCK, '{"city": "Oslo"}'),
}


def outputs(reader: StreamReader, records: list[bytes]) -> list[tuple[Kind, str]]:
    events = [event for record in records for event in reader.feed(record)]
    return [(one.kind, one.text) for one in events if isinstance(one, Output)]


@pytest.mark.parametrize(("reader", "records", "arguments"), STREAMS.values(), ids=STREAMS)
def test_the_record_with_the_name_is_the_first_output(reader: type[StreamReader], records: list[bytes], arguments: str):
    decoder, answer, timeline = reader(), ResponseAccumulator(), Timeline(due=0, started=0, sent=0)
    for place, record in enumerate(records, start=1):
        for event in decoder.feed(record):
            answer.add(event, place * RECORD_MS * 1_000_000, timeline)
    assert timing.ttft_ms(timeline) == 2 * RECORD_MS, "the first record has no output, the second has the name"
    assert timing.ttfa_ms(timeline) is None
    assert {one.kind for one in timeline.contents} == {Kind.TOOL}
    assert answer.chars == sum(one.chars for one in timeline.contents) == len("get_weather" + arguments)
    assert answer.samples == {Kind.TOOL: "get_weather" + arguments}


def test_running_counts_are_on_the_parts_of_a_call():
    """vLLM's ``continuous_usage_stats``: so the speed of a call can be known exactly."""
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}
    more = {"index": 0, "function": {"arguments": '{"a'}}
    records = [
        sse({"choices": [{"index": 0, "delta": {"tool_calls": [part]}}], "usage": {"completion_tokens": count}})
        for part, count in ((call, 9), (more, 12))
    ]
    reader = ChunkReader()
    events = [event for record in records for event in reader.feed(record)]
    assert [one.tokens for one in events if isinstance(one, Output)] == [9, 12]
    assert Usage(output=12) in events


def test_a_name_that_is_sent_with_every_part_counts_once():
    part = {"id": "call_1", "type": "function"}
    records = [
        chat(**part, function={"name": "find", "arguments": ""}),
        chat(**part, function={"name": "find", "arguments": ""}),
        chat(**part, function={"name": "find", "arguments": '{"a'}),
        chat(**part, function={"name": "find", "arguments": '":1}'}),
        chat(id="call_2", function={"name": "find", "arguments": "{}"}),
    ]
    assert outputs(ChunkReader(), records) == [
        (Kind.TOOL, "find"), (Kind.TOOL, '{"a'), (Kind.TOOL, '":1}'), (Kind.TOOL, "find{}"),
    ]  # fmt: skip


def test_a_name_that_comes_in_pieces_is_output_piece_by_piece():
    records = [chat(id="call_1", function={"name": "get_"}), chat(function={"name": "weather"}), chat(function={})]
    assert outputs(ChunkReader(), records) == [(Kind.TOOL, "get_"), (Kind.TOOL, "weather")]


def test_calls_side_by_side_have_names_of_their_own():
    calls = [{"index": place, "id": f"c{place}", "function": {"name": "f", "arguments": "{}"}} for place in (0, 1)]
    assert outputs(ChunkReader(), [sse({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})]) == [
        (Kind.TOOL, "f{}f{}")
    ]


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use", "mcp_tool_use"])
def test_a_tool_that_anthropics_server_runs_is_called_by_the_model(kind: str):
    start = block("content_block_start", content_block={"type": kind, "name": "web_search", "input": {}})
    assert outputs(AnthropicReader(), [start]) == [(Kind.TOOL, "web_search")]
    result = block("content_block_start", content_block={"type": "web_search_tool_result", "name": "web_search"})
    assert outputs(AnthropicReader(), [result]) == []


@pytest.mark.parametrize(
    ("of_item", "output"),
    [
        ({"type": "custom_tool_call", "name": "run"}, [(Kind.TOOL, "run")]),
        ({"type": "mcp_call", "name": "run"}, [(Kind.TOOL, "run")]),
        ({"type": "function_call", "name": ""}, []),
        ({"type": "function_call_output", "name": "run"}, []),
        ({"type": "message", "name": "run"}, []),
        ({"type": ["function_call"], "name": "run"}, []),
    ],
)
def test_items_of_a_response_that_begin_a_call(of_item: dict[str, Any], output: list[tuple[Kind, str]]):
    assert outputs(ResponsesReader(), [sse(item("response.output_item.added", item=of_item))]) == output


def test_calls_of_strange_shapes_are_no_error():
    for calls in ("x", [None], [{"function": "x"}], [{"function": {"name": 7, "arguments": []}}], [{"index": []}]):
        record = {"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}
        assert outputs(ChunkReader(), [sse(record)]) == [], json.dumps(calls)
