"""Anthropic Messages: named events, blocks of thinking and text, cumulative usage, fast mode.

By platform.claude.com/docs/en/build-with-claude/streaming, and fast-mode beside it.
"""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from probes.events import Kind
from probes.simulator.answer_plan import PlannedChunk
from probes.simulator.behaviour import Behaviour
from probes.simulator.dialects.dialect import (
    BadRequest,
    NotStreaming,
    Problem,
    RejectedKey,
    SimulatedAnswer,
    SimulatedDialect,
    UnknownModel,
    compact,
)
from probes.simulator.faults.error_shapes import anthropic_error
from probes.simulator.faults.fault import ReplacedResponse
from probes.simulator.limit_responses import limit_headers
from probes.simulator.limiter import Admission
from probes.simulator.request import AnswerRequest, Request, Thinking, estimate_tokens, json_body, output_cap
from probes.simulator.script import Act, EndOfResponse, Head, SentEvent

_BLOCKS: Final[Mapping[Kind, dict[str, Any]]] = {
    Kind.ANSWER: {"type": "text", "text": ""},
    Kind.REFUSAL: {"type": "text", "text": ""},
    Kind.REASONING: {"type": "thinking", "thinking": "", "signature": ""},
    Kind.TOOL: {"type": "tool_use", "id": "toolu_sim", "name": "say", "input": {}},
}
_DELTAS: Final[Mapping[Kind, tuple[str, str]]] = {
    Kind.ANSWER: ("text_delta", "text"),
    Kind.REFUSAL: ("text_delta", "text"),
    Kind.REASONING: ("thinking_delta", "thinking"),
    Kind.TOOL: ("input_json_delta", "partial_json"),
}
_SIGNATURE: Final = {"type": "signature_delta", "signature": "c2ltdWxhdGVkIHNpZ25hdHVyZQ=="}


class AnthropicAnswer(SimulatedAnswer):
    """One answer's stream of message events."""

    def acts(self) -> Iterator[Act]:
        """The head, the message's start, its blocks and its end; a ping always comes before the first of them."""
        ttfb_ms, end_ms = self.plan.ttfb_ms, self.plan.end_ms
        yield self.head(id_header="request-id")
        yield _event(ttfb_ms, {"type": "message_start", "message": self._message()})
        yield _event(ttfb_ms, {"type": "ping"})
        if self.behaviour.comment is not None:
            yield from self.waiting(_data({"type": "ping"}))
        yield from self._blocks()
        delta = {"stop_reason": self._stop_reason(), "stop_sequence": None}
        usage = {"usage": self._final_usage()} if self._counts else {}
        yield _event(end_ms, {"type": "message_delta", "delta": delta, **usage})
        yield _event(end_ms, {"type": "message_stop"})
        yield EndOfResponse(end_ms)

    @property
    def _counts(self) -> bool:
        return self.behaviour.usage != "never"

    def _message(self) -> dict[str, Any]:
        message: dict[str, Any] = {
            "id": f"msg_{self.request_id}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }
        if self._counts:  # its output count is a placeholder
            tier = self.behaviour.service_tier or "standard"
            message["usage"] = {**self._usage(1), "service_tier": tier, **self._speed()}
        return message

    def _speed(self) -> dict[str, str]:
        """The speed served, which stands here alone (the SDK's BetaUsage) and only where the request set one."""
        requested = self.request.body.get("speed")
        return {} if requested is None else {"speed": self.behaviour.speed or requested}

    def _usage(self, output: int) -> dict[str, Any]:
        counts: dict[str, Any] = {
            "input_tokens": self.plan.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output,
        }
        return counts | dict(self.behaviour.usage_extra)

    def _final_usage(self) -> dict[str, Any]:
        usage = self._usage(self.plan.output_tokens)
        if (thought := self.plan.reasoning_tokens) and self.behaviour.reasoning_split:
            usage["output_tokens_details"] = {"thinking_tokens": thought}
        return usage

    def _blocks(self) -> Iterator[SentEvent]:
        index = 0
        shown = any(one.kind is Kind.REASONING for one in self.plan.chunks)
        if self.plan.reasoning_tokens and not shown:  # omitted: the block shows a signature and nothing else
            due_ms = self.plan.chunks[0].due_ms if self.plan.chunks else self.plan.end_ms
            yield from self._block(index, Kind.REASONING, due_ms, ())
            index += 1
        for kind, group in groupby(self.plan.chunks, lambda one: one.kind):
            chunks = tuple(group)
            yield from self._block(index, kind, chunks[0].due_ms, chunks)
            index += 1

    def _block(self, index: int, kind: Kind, due_ms: float, chunks: tuple[PlannedChunk, ...]) -> Iterator[SentEvent]:
        yield _event(due_ms, {"type": "content_block_start", "index": index, "content_block": _BLOCKS[kind]})
        delta_type, name = _DELTAS[kind]
        for chunk in chunks:
            due_ms = chunk.due_ms
            delta = {"type": delta_type, name: chunk.text}
            data = _data({"type": "content_block_delta", "index": index, "delta": delta})
            yield SentEvent(due_ms, data, chunk.kind, chunk.text, chunk.tokens)
        if kind is Kind.REASONING:
            yield _event(due_ms, {"type": "content_block_delta", "index": index, "delta": _SIGNATURE})
        yield _event(due_ms, {"type": "content_block_stop", "index": index})

    def _stop_reason(self) -> str:
        if self.plan.finish_reason == "length":
            return "max_tokens"
        return {Kind.REFUSAL: "refusal", Kind.TOOL: "tool_use"}.get(self.behaviour.kind, "end_turn")


def error_response(problem: Problem) -> ReplacedResponse:
    """An error response as Anthropic writes it."""
    match problem:
        case UnknownModel(model):
            return ReplacedResponse(404, anthropic_error("not_found_error", f"model: {model}"))
        case NotStreaming():
            return ReplacedResponse(400, anthropic_error("invalid_request_error", "stream: the simulator only streams"))
        case RejectedKey():
            return ReplacedResponse(401, anthropic_error("authentication_error", "invalid x-api-key"))
        case BadRequest(message):
            return ReplacedResponse(400, anthropic_error("invalid_request_error", message))


def rate_limit_response(behaviour: Behaviour, admission: Admission) -> Head:
    """The response to a refused request, with rate-limit headers in the behaviour's style."""
    message = f"This request would exceed your organization's rate limit of {admission.refused_by} per minute."
    headers = {
        "content-type": "application/json",
        **limit_headers(behaviour.limits, admission),
        "retry-after": str(math.ceil(admission.retry_after_s)),
    }
    return Head(0.0, 429, headers, compact(anthropic_error("rate_limit_error", message)))


def _parse_request(request: Request) -> AnswerRequest:
    """The answer that a request asks for; without the beta header of fast mode, ``speed`` is an unknown field."""
    if "anthropic-version" not in request.headers:
        raise ValueError("anthropic-version: header is required")
    body = json_body(request.body)
    if not isinstance(body.get("model"), str):
        raise ValueError("model: Field required")
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise ValueError("messages: Field required")
    if body.get("max_tokens") is None:
        raise ValueError("max_tokens: Field required")
    if "speed" in body and "fast-mode-" not in request.headers.get("anthropic-beta", ""):
        raise ValueError("speed: Extra inputs are not permitted")
    return AnswerRequest(
        model=body["model"],
        cap=output_cap(body, "max_tokens"),
        input_tokens=estimate_tokens(*(one.get("content", "") for one in body["messages"] if isinstance(one, dict))),
        stream=body.get("stream") is True,
        thinking=_thinking(body.get("thinking")),
        body=body,
    )


def _thinking(field: object) -> Thinking:
    options = field if isinstance(field, dict) else {}
    if options.get("type") == "disabled":
        return "off"
    return "hidden" if options.get("display") == "omitted" else "shown"


def _key(request: Request) -> str:
    return request.headers.get("x-api-key", "")


def _event(due_ms: float, body: Mapping[str, Any]) -> SentEvent:
    return SentEvent(due_ms, _data(body))


def _data(body: Mapping[str, Any]) -> bytes:
    return f"event: {body['type']}\n".encode() + b"data: " + compact(body) + b"\n\n"


SIMULATED_DIALECT: Final = SimulatedDialect(
    path=re.compile("/(?:.+/)?messages"),
    parse_request=_parse_request,
    key=_key,
    answer=AnthropicAnswer,
    rate_limit_response=rate_limit_response,
    error_response=error_response,
)
