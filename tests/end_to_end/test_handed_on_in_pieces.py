"""Answers handed on in pieces, calls, and renamed fields: bytes as they come, and the numbers they give."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.servers.replay import Timed, replayed
from tests.wire.dialect_facts import row, sse

WORDS = ["The", " light", "house", " stood", " where", " the", " land", " gave", " up", " its", " last", " stones"] * 20
GAP_MS = 4.0
SPEED = 1000 / GAP_MS
"""Of a token every 4 ms, whatever becomes of it on the way."""


def chat(text: str) -> bytes:
    return sse({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})


def chat_end(tokens: int) -> bytes:
    usage = {"prompt_tokens": 30, "completion_tokens": tokens}
    finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return sse(finish) + sse({"choices": [], "usage": usage}) + b"data: [DONE]\n\n"


def delta(text: str) -> bytes:
    block = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return sse(block, "content_block_delta")


def anthropic_end(tokens: int) -> bytes:
    stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": tokens}}
    return sse(stop, "message_delta") + sse({"type": "message_stop"}, "message_stop")


def ollama(text: str) -> bytes:
    return row({"model": "m", "message": {"role": "assistant", "content": text}, "done": False})


def ollama_end(tokens: int) -> bytes:
    counts = {"total_duration": 9, "prompt_eval_count": 30, "eval_count": tokens}
    return row({"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop", **counts})


DIALECTS: dict[str, tuple[Callable[[str], bytes], Callable[[int], bytes]]] = {
    "openai_chat": (chat, chat_end),
    "anthropic": (delta, anthropic_end),
    "ollama": (ollama, ollama_end),
}


def pieces(records: list[bytes], held: int) -> Iterator[Timed]:
    """A record every `GAP_MS` from 300 ms on, handed on in so many at a time, each when its last was generated."""
    for place in range(0, len(records), held):
        some = records[place : place + held]
        yield 300 + (place + len(some) - 1) * GAP_MS, b"".join(some)


@pytest.mark.parametrize("held", [1, 2, 5, 20, 40])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_pieces_of_an_answer_have_the_speed_at_which_it_was_generated(dialect: str, held: int):
    record, end = DIALECTS[dialect]
    records = [*pieces([record(word) for word in WORDS], held), (300 + len(WORDS) * GAP_MS, end(len(WORDS)))]
    sample = replayed(dialect, records)
    assert sample.tokens_per_s == pytest.approx(SPEED, rel=0.001)
    assert sample.ttft_ms == 300 + (held - 1) * GAP_MS


def test_an_answer_in_two_pieces_has_no_speed():
    records = [*pieces([chat(word) for word in WORDS], 130), (1_300, chat_end(len(WORDS)))]
    assert "came at 2 instants" in (replayed("openai_chat", records).outcome_detail or "")


def test_a_call_whose_name_and_frame_are_counted_and_not_shown_has_no_speed():
    arguments = [text for _, text in zip(range(60), json.dumps({"cities": ["Berlin"] * 40}), strict=False)]
    calls = [
        sse({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": one}}]}}]})
        for one in arguments
    ]
    sample = replayed("openai_chat", [*pieces(calls, 1), (900, chat_end(len(calls) + 14))])
    assert sample.tokens_per_s is None
    assert "give or take 40" in (sample.outcome_detail or "")


@pytest.mark.parametrize(
    "field",
    [
        lambda text: {"reasoning_text": text, "content": None},  # GitHub Copilot
        lambda text: {"content": "", "content_blocks": [{"index": 0, "delta": {"thinking": text}}]},  # Portkey
    ],
    ids=["copilot", "portkey"],
)
def test_reasoning_under_a_gateways_own_name_is_the_first_token(field: Callable[[str], dict[str, Any]]):
    thoughts = [sse({"choices": [{"index": 0, "delta": field(word)}]}) for word in WORDS[:60]]
    said = [(300 + (60 + place) * GAP_MS, chat(word)) for place, word in enumerate(WORDS[:80])]
    sample = replayed("openai_chat", [*pieces(thoughts, 1), *said, (900, chat_end(140))])
    assert (sample.ttft_ms, sample.ttfa_ms) == (300, 300 + 60 * GAP_MS)
    assert (sample.tokens_per_s, sample.speed_basis) == (pytest.approx(SPEED, rel=0.001), "output")


def test_an_answers_text_beside_its_block_is_read_once():
    both = [
        sse({"choices": [{"index": 0, "delta": {"content": word, "content_blocks": [{"delta": {"text": word}}]}}]})
        for word in WORDS
    ]
    sample = replayed("openai_chat", [*pieces(both, 1), (1_300, chat_end(len(WORDS)))])
    assert sample.output_chars == len("".join(WORDS))
    assert sample.tokens_per_s == pytest.approx(SPEED, rel=0.001)
