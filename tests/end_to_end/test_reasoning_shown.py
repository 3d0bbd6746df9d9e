"""Reasoning that is shown as a summary, or not at all, and what it does to tokens/s: the shapes of five providers.

In each the answer is decoded at exactly 50 tokens/s, after 400 tokens of reasoning; 880 characters of summary come in
the 123 ms before it.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers.replay import Timed, replayed
from tests.wire.dialect_facts import sse

ANSWER = [f"word{number} " if number % 2 else "river " for number in range(50)]
SUMMARY = ["**Planning* "[:10]] * 88
THOUGHT, SAID = 400, 50
FIRST_MS, ANSWER_MS = 8_000.0, 8_123.2


def spread(pieces: list[str], start_ms: float, gap_ms: float) -> list[tuple[float, str]]:
    """Pieces of text at even distances."""
    return [(start_ms + place * gap_ms, piece) for place, piece in enumerate(pieces)]


def shown(summary: bool) -> list[tuple[float, str]]:
    return spread(SUMMARY, FIRST_MS, 1.4) if summary else []


def responses(*, kind: str = "reasoning_summary_text", summary: bool = True, split: bool = True) -> Iterator[Timed]:
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}
    yield 400, event("response.created", response={"id": "resp_1", "model": "gpt-6", "status": "in_progress"})
    yield 400, event("response.output_item.added", output_index=0, item=item)
    for at, text in shown(summary):
        yield at, event(f"response.{kind}.delta", item_id="rs_1", summary_index=0, delta=text)
    yield ANSWER_MS, event("response.output_item.done", output_index=0, item=item)
    for at, text in spread(ANSWER, ANSWER_MS, 20):
        yield at, event("response.output_text.delta", item_id="msg_1", content_index=0, delta=text)
    usage: dict[str, Any] = {"input_tokens": 20, "output_tokens": THOUGHT + SAID, "total_tokens": 20 + THOUGHT + SAID}
    if split:
        usage["output_tokens_details"] = {"reasoning_tokens": THOUGHT}
    yield 9_200, event("response.completed", response={"status": "completed", "output": [item], "usage": usage})


def event(sort: str, **fields: Any) -> bytes:
    return sse({"type": sort, **fields}, sort)


def messages(*, model: str = "claude-opus-5", summary: bool = True, split: bool = False) -> Iterator[Timed]:
    usage = {"input_tokens": 20, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "usage": usage}
    yield 400, event("message_start", message=message)
    yield (
        400,
        event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""}),
    )
    for at, text in shown(summary):
        yield at, event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": text})
    signature = {"type": "signature_delta", "signature": "EqQBCgIYAhIM"}
    yield ANSWER_MS, event("content_block_delta", index=0, delta=signature)
    yield ANSWER_MS, event("content_block_stop", index=0)
    yield ANSWER_MS, event("content_block_start", index=1, content_block={"type": "text", "text": ""})
    for at, text in spread(ANSWER, ANSWER_MS, 20):
        yield at, event("content_block_delta", index=1, delta={"type": "text_delta", "text": text})
    yield 9_200, event("content_block_stop", index=1)
    final: dict[str, Any] = {"output_tokens": THOUGHT + SAID}
    if split:
        final["output_tokens_details"] = {"thinking_tokens": THOUGHT}
    yield 9_200, event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage=final)
    yield 9_200, event("message_stop")


def chat(
    *, model: str = "thinker", summary: bool = True, split: bool = False, detail: str | None = None, **counts: Any
) -> Iterator[Timed]:
    for at, text in shown(summary):
        details = {"reasoning_details": [{"type": detail, "summary": text, "index": 0}]} if detail else {}
        yield at, chunk(model, {"reasoning": text, **details})
    for at, text in spread(ANSWER, ANSWER_MS, 20):
        yield at, chunk(model, {"content": text})
    usage: dict[str, Any] = {"prompt_tokens": 20, "completion_tokens": THOUGHT + SAID} | counts
    if split:
        usage["completion_tokens_details"] = {"reasoning_tokens": THOUGHT}
    yield 9_200, sse({"id": "1", "model": model, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield 9_200, sse({"id": "1", "model": model, "choices": [], "usage": usage}) + b"data: [DONE]\n\n"


def chunk(model: str, delta: dict[str, Any]) -> bytes:
    return sse({"id": "1", "model": model, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


HIDDEN_UNCOUNTED = "tokens/s withheld: the reasoning was not shown as it was generated, and is not counted apart"
NO_EVENTS = "400 of 450 tokens are in none of its 50 events"
ANOTHER_PACE = "tokens/s withheld: the reasoning came at another pace than the answer, as a summary does"


@pytest.mark.parametrize(
    ("dialect", "stream"),
    [
        ("openai_responses", responses()),
        ("openai_responses", responses(summary=False)),
        ("anthropic", messages(split=True)),
        ("anthropic", messages(split=True, summary=False)),
        ("anthropic", messages(split=True, model="mock")),
        ("openai_chat", chat(split=True)),
        ("openai_chat", chat(split=True, model="anthropic/claude-opus-5")),
        ("openai_chat", chat(split=True, detail="reasoning.summary")),
        ("openai_chat", chat(split=True, summary=False)),
    ],
)
def test_with_a_split_the_speed_is_that_of_the_answer(dialect: str, stream: Iterator[Timed]):
    told = replayed(dialect, stream)
    assert (told.tokens_per_s, told.tpot_ms, told.speed_basis) == (50, 20, "answer")
    assert (told.outcome_detail, told.ttfa_ms, told.output_tokens, told.reasoning_tokens) == (None, ANSWER_MS, 450, 400)
    assert told.ttft_ms in (FIRST_MS, ANSWER_MS)
    assert told.e2e_tokens_per_s == pytest.approx(450 / 9.1032, rel=1e-4)  # from first to last all of it was generated


@pytest.mark.parametrize(
    ("dialect", "stream", "why"),
    [
        ("openai_responses", responses(split=False), HIDDEN_UNCOUNTED),
        ("openai_responses", responses(split=False, summary=False), HIDDEN_UNCOUNTED),
        ("anthropic", messages(), HIDDEN_UNCOUNTED),
        ("anthropic", messages(summary=False), HIDDEN_UNCOUNTED),
        ("anthropic", messages(model="mock"), ANOTHER_PACE),
        ("openai_chat", chat(), ANOTHER_PACE),
        ("openai_chat", chat(model="openai/gpt-6"), HIDDEN_UNCOUNTED),
        ("openai_chat", chat(detail="reasoning.summary"), HIDDEN_UNCOUNTED),
        ("openai_chat", chat(detail="reasoning.encrypted"), HIDDEN_UNCOUNTED),
        ("openai_chat", chat(completion_tokens_details={"reasoning_tokens": 0}), ANOTHER_PACE),
        ("openai_chat", chat(summary=False), NO_EVENTS),
    ],
)
def test_without_a_split_there_is_none_and_the_sample_says_why(dialect: str, stream: Iterator[Timed], why: str):
    told = replayed(dialect, stream)
    basis = "suspected" if why is NO_EVENTS else None
    assert (told.outcome, told.tokens_per_s, told.tpot_ms, told.speed_basis) == ("ok", None, None, basis)
    assert why in (told.outcome_detail or "")
    assert told.ttfa_ms == ANSWER_MS


@pytest.mark.parametrize("left_out", ["response.output_item.done", "response.output_item"])
def test_an_item_of_hidden_reasoning_is_seen_whichever_event_tells_of_it(left_out: str):
    stream = responses(summary=False, split=False)
    told = replayed("openai_responses", [one for one in stream if left_out.encode() not in one[1]])
    assert (told.tokens_per_s, told.outcome_detail) == (None, HIDDEN_UNCOUNTED)


def test_raw_reasoning_of_the_responses_api_is_in_the_speed():
    stream = list(responses(kind="reasoning_text", summary=False))
    raw = [
        (at, event("response.reasoning_text.delta", item_id="rs_1", content_index=0, delta="think "))
        for at in range(123, 8_123, 20)
    ]
    told = replayed("openai_responses", sorted([*stream, *raw], key=lambda one: one[0]))
    assert (told.tokens_per_s, told.speed_basis, told.ttft_ms) == (pytest.approx(50, rel=0.01), "output", 123)
