"""Anthropic Messages: named events, blocks of thinking and text, cumulative usage, fast mode (`providers.md` §4)."""

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
from probes.simulator.limiter import Admission
from probes.simulator.rate_limits import limit_headers
from probes.simulator.request import Ask, Request, Thinking, body_of, cap_of, tokens_in
from probes.simulator.script import Act, EndOfResponse, Event, Head

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
        ttfb_ms, end_ms = self.course.ttfb_ms, self.course.end_ms
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
            "id": f"msg_{self.ident}",
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
        """The speed that serves, told here alone (the SDK's BetaUsage) and to those who asked for one."""
        asked = self.ask.body.get("speed")
        return {} if asked is None else {"speed": self.behaviour.speed or asked}

    def _usage(self, output: int) -> dict[str, Any]:
        counts: dict[str, Any] = {
            "input_tokens": self.course.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output,
        }
        return counts | dict(self.behaviour.usage_extra)

    def _final_usage(self) -> dict[str, Any]:
        usage = self._usage(self.course.output_tokens)
        if (thought := self.course.reasoning_tokens) and self.behaviour.reasoning_split:
            usage["output_tokens_details"] = {"thinking_tokens": thought}
        return usage

    def _blocks(self) -> Iterator[Event]:
        index = 0
        told = any(one.kind is Kind.REASONING for one in self.course.pieces)
        if self.course.reasoning_tokens and not told:  # omitted: the block shows a signature and nothing else
            due_ms = self.course.pieces[0].due_ms if self.course.pieces else self.course.end_ms
            yield from self._block(index, Kind.REASONING, due_ms, ())
            index += 1
        for kind, group in groupby(self.course.pieces, lambda one: one.kind):
            pieces = tuple(group)
            yield from self._block(index, kind, pieces[0].due_ms, pieces)
            index += 1

    def _block(self, index: int, kind: Kind, due_ms: float, pieces: tuple[PlannedChunk, ...]) -> Iterator[Event]:
        yield _event(due_ms, {"type": "content_block_start", "index": index, "content_block": _BLOCKS[kind]})
        sort, name = _DELTAS[kind]
        for piece in pieces:
            due_ms = piece.due_ms
            delta = {"type": sort, name: piece.text}
            data = _data({"type": "content_block_delta", "index": index, "delta": delta})
            yield Event(due_ms, data, piece.kind, piece.text, piece.tokens)
        if kind is Kind.REASONING:
            yield _event(due_ms, {"type": "content_block_delta", "index": index, "delta": _SIGNATURE})
        yield _event(due_ms, {"type": "content_block_stop", "index": index})

    def _stop_reason(self) -> str:
        if self.course.finish_reason == "length":
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
    """The refusal of a limiter; its limits are told in the headers of the behaviour's style."""
    message = f"This request would exceed your organization's rate limit of {admission.refused_by} per minute."
    headers = {
        "content-type": "application/json",
        **limit_headers(behaviour.limits, admission),
        "retry-after": str(math.ceil(admission.retry_after_s)),
    }
    return Head(0.0, 429, headers, compact(anthropic_error("rate_limit_error", message)))


def _parse_request(request: Request) -> Ask:
    """The ask of a request. The beta header of fast mode is needed, for without it ``speed`` is an unknown field."""
    if "anthropic-version" not in request.headers:
        raise ValueError("anthropic-version: header is required")
    body = body_of(request.body)
    if not isinstance(body.get("model"), str):
        raise ValueError("model: Field required")
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise ValueError("messages: Field required")
    if body.get("max_tokens") is None:
        raise ValueError("max_tokens: Field required")
    if "speed" in body and "fast-mode-" not in request.headers.get("anthropic-beta", ""):
        raise ValueError("speed: Extra inputs are not permitted")
    return Ask(
        model=body["model"],
        cap=cap_of(body, "max_tokens"),
        input_tokens=tokens_in(*(one.get("content", "") for one in body["messages"] if isinstance(one, dict))),
        stream=body.get("stream") is True,
        thinking=_thinking(body.get("thinking")),
        body=body,
    )


def _thinking(asked: object) -> Thinking:
    asked = asked if isinstance(asked, dict) else {}
    if asked.get("type") == "disabled":
        return "off"
    return "hidden" if asked.get("display") == "omitted" else "shown"


def _key(request: Request) -> str:
    return request.headers.get("x-api-key", "")


def _event(due_ms: float, body: Mapping[str, Any]) -> Event:
    return Event(due_ms, _data(body))


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
