"""Bodies of Responses streams: OpenAI's after its SDK's types and vercel/ai's recordings, llama.cpp's as sent."""

import json
from collections.abc import Callable

from tests.wire.dialect_facts import data, line, row
from tests.wire.dialect_facts import sse as one_event


class Records:
    """How Responses say things, as server-sent events or, ``over_socket``, as messages."""

    marker = b""

    def __init__(self, *, over_socket: bool) -> None:
        self.record: Callable[[object], bytes] = row if over_socket else one_event
        self.frame = line if over_socket else data

    def output(self, text: str) -> bytes:
        return self.record({"type": "response.output_text.delta", "delta": text})

    def finish(self) -> bytes:
        return self.record({"type": "response.output_text.done"})

    def usage(self, prompt: int, output: int) -> bytes:
        usage = {"input_tokens": prompt, "output_tokens": output}
        return self.record({"type": "response.completed", "response": {"status": "completed", "usage": usage}})


def sse(*objects, named=True, end=""):
    """Objects as events, with their ``event:`` line or without; a string goes in as it is."""
    records = (
        one
        if isinstance(one, str)
        else (f"event: {one['type']}\n" if named else "") + f"data: {json.dumps(one, ensure_ascii=False)}\n\n"
        for one in objects
    )
    return ("".join(records) + end).encode()


def response(status="in_progress", **more):
    return {
        "id": "resp_1", "object": "response", "created_at": 1795000000, "status": status, "error": None,
        "incomplete_details": None, "model": "gpt-5.4-nano-2026-03-17", "output": [], "service_tier": "auto",
        "usage": None, **more,
    }  # fmt: skip


def event(sort, **more):
    return {"type": sort, "sequence_number": 4, **more}


def delta(sort, text, **more):
    return event(f"response.{sort}.delta", item_id="msg_1", output_index=0, delta=text, **more)


def usage(prompt, output, cached=0, reasoning=0):
    return {
        "input_tokens": prompt, "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": prompt + output,
    }  # fmt: skip


def completed(**more):
    return event("response.completed", response=response("completed", **more))


BEGUN = (event("response.created", response=response()), event("response.in_progress", response=response()))
ITEM = event("response.output_item.added", output_index=0, item={"id": "msg_1", "type": "message", "content": []})
PART = event("response.content_part.added", item_id="msg_1", part={"type": "output_text", "text": ""})

TEXT = sse(
    *BEGUN,
    ITEM,
    PART,
    delta("output_text", "Hel", logprobs=[], obfuscation="k3Jx9"),
    delta("output_text", "lo\u2028!", logprobs=[], obfuscation=""),
    event("response.output_text.done", item_id="msg_1", text="Hello\u2028!"),
    completed(service_tier="priority", usage=usage(9, 303, 4, 300)),
)
THINKING = sse(
    event("response.created", response=response()),
    event("response.queued", response=response("queued")),
    event("keepalive"),
    event("response.output_item.added", item={"id": "rs_1", "type": "reasoning", "summary": []}),
    delta("reasoning_summary_text", "**Weighing"),
    delta("reasoning_summary_text", " it**"),
    delta("reasoning_text", "So"),
    delta("output_text", ""),
    delta("output_text", "Yes"),
    event("response.incomplete", response=response(
        "incomplete", incomplete_details={"reason": "max_output_tokens"}, service_tier="default",
        usage=usage(9, 64, 0, 60),
    )),
    named=False,
    end="data: [DONE]\n\n",
)  # fmt: skip
REFUSAL = sse(*BEGUN, delta("refusal", "I can"), delta("refusal", "not."), completed(usage=usage(5, 8)))
TOOL = sse(*BEGUN, delta("function_call_arguments", '{"a'), delta("function_call_arguments", '":1}'), completed())
FILTERED = sse(
    *BEGUN,
    event("response.incomplete", response=response("incomplete", incomplete_details={"reason": "content_filter"})),
)
NO_CREDIT = sse(
    *BEGUN,
    event("error", error={
        "type": "insufficient_quota", "code": "insufficient_quota", "param": None,
        "message": "You exceeded your current quota, please check your plan and billing details.",
    }),
    event("response.failed", response=response("failed", error={"code": "server_error", "message": "It failed."})),
)  # fmt: skip
FAILED = sse(
    *BEGUN,
    delta("output_text", "On"),
    event("response.failed", response=response(
        "failed", error={"code": "rate_limit_exceeded", "message": "Rate limit reached. Please try again in 7.66s."},
        usage=usage(9, 1),
    )),
)  # fmt: skip
LLAMA_TIMINGS = {
    "cache_n": 0, "prompt_n": 18, "prompt_ms": 2.235, "prompt_per_second": 8053.7, "predicted_n": 6,
    "predicted_ms": 3.607, "predicted_per_second": 1386.2,
}  # fmt: skip
LLAMA_CPP = sse(
    {"type": "response.created", "response": {"id": "resp_y6", "object": "response", "status": "in_progress"}},
    {"type": "response.output_item.added", "item": {"content": [], "id": "msg_al", "type": "message"}},
    {"type": "response.output_text.delta", "item_id": "msg_al", "delta": " dela", "timings": {"predicted_n": 1}},
    {"type": "response.output_text.delta", "item_id": "msg_al", "delta": " desu", "timings": {"predicted_n": 2}},
    {"type": "response.output_text.delta", "item_id": "msg_al", "delta": " buri daru", "timings": {"predicted_n": 6}},
    {
        "type": "response.completed",
        "response": {
            "id": "resp_y6", "object": "response", "created_at": 1795224064, "status": "completed",
            "model": "referee-1", "output": [],
            "usage": {
                "input_tokens": 18, "output_tokens": 6, "total_tokens": 24,
                "input_tokens_details": {"cached_tokens": 0},
            },
        },
        "timings": LLAMA_TIMINGS,
    },
)  # fmt: skip

ALL = {
    name.lower(): body
    for name, body in globals().copy().items()
    if isinstance(body, bytes) and not name.startswith("_")
}
