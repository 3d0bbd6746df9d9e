"""Bedrock's ConverseStream: JSON events in binary frames, the usage in the last of them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

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
    bearer,
    compact,
)
from probes.simulator.event_stream import frame
from probes.simulator.faults.fault import ReplacedResponse
from probes.simulator.limiter import Admission
from probes.simulator.request import AnswerRequest, Request, estimate_tokens, json_body, output_cap
from probes.simulator.script import Act, EndOfResponse, Head, SentEvent

_PATH: Final = re.compile(r"/(?:.+/)?model/([^/]+)/converse-stream")
_FRAMES: Final = {"content-type": "application/vnd.amazon.eventstream"}
_SIGNED_BY: Final = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/,]+)/")


class BedrockAnswer(SimulatedAnswer):
    """One answer's stream of frames."""

    def acts(self) -> Iterator[Act]:
        """The head, a frame for every chunk, the finish reason, and the usage."""
        end_ms = self.plan.end_ms
        yield self.head(_FRAMES, "x-amzn-RequestId")
        yield SentEvent(self.plan.ttfb_ms, event("messageStart", {"role": "assistant"}))
        for chunk in self.plan.chunks:
            data = event("contentBlockDelta", {"contentBlockIndex": 0, "delta": _delta(chunk)})
            yield SentEvent(chunk.due_ms, data, chunk.kind, chunk.text, chunk.tokens)
        yield SentEvent(end_ms, event("contentBlockStop", {"contentBlockIndex": 0}))
        reason = "max_tokens" if self.plan.finish_reason == "length" else "end_turn"
        yield SentEvent(end_ms, event("messageStop", {"stopReason": reason}))
        yield SentEvent(end_ms, event("metadata", self._metadata()))
        yield EndOfResponse(end_ms)

    def _metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = {"metrics": {"latencyMs": round(self.plan.end_ms)}}
        if self.behaviour.usage != "never":
            counts = {"inputTokens": self.plan.input_tokens, "outputTokens": self.plan.output_tokens}
            metadata["usage"] = {**counts, "totalTokens": sum(counts.values())}
        if self.behaviour.served_model is not None:
            metadata["trace"] = {"promptRouter": {"invokedModelId": self.behaviour.served_model}}
        return metadata


def event(name: str, record: Mapping[str, Any]) -> bytes:
    """One event as a frame."""
    return frame(compact(record), event_type=name, content_type="application/json", message_type="event")


def exception(name: str, message: str) -> bytes:
    """An exception inside a stream as a frame."""
    return frame(
        compact({"message": message}), exception_type=name, content_type="application/json", message_type="exception"
    )


def error_response(problem: Problem) -> ReplacedResponse:
    """An error response as Bedrock writes it."""
    match problem:
        case UnknownModel():
            return _error(400, "ValidationException", "The provided model identifier is invalid.")
        case NotStreaming():
            return _error(400, "ValidationException", "The simulator only streams.")
        case RejectedKey(sent):
            return _error(403, "UnrecognizedClientException", f"The security token {sent} is invalid.")
        case BadRequest(message):
            return _error(400, "ValidationException", message)


def rate_limit_response(behaviour: Behaviour, admission: Admission) -> Head:  # noqa: ARG001  # neither is in it
    """The response to a refused request: no header has the limits."""
    body = compact({"message": "Too many requests, please wait before trying again."})
    headers = {"content-type": "application/json", "x-amzn-ErrorType": "ThrottlingException:http://internal/"}
    return Head(0.0, 429, headers, body)


def _error(status: int, name: str, message: str) -> ReplacedResponse:
    return ReplacedResponse(status, {"message": message}, {"x-amzn-ErrorType": name})


def _delta(chunk: PlannedChunk) -> dict[str, Any]:
    match chunk.kind:
        case Kind.REASONING:
            return {"reasoningContent": {"text": chunk.text}}
        case Kind.TOOL:
            return {"toolUse": {"input": chunk.text}}
        case _:
            return {"text": chunk.text}


def _parse_request(request: Request) -> AnswerRequest:
    named = _PATH.fullmatch(request.path.partition("?")[0])
    if named is None:
        raise ValueError("no model is named")
    body = json_body(request.body)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ValueError("1 validation error detected: messages must not be empty")
    config = body.get("inferenceConfig")
    texts = [part.get("text", "") for one in messages for part in one["content"]]
    return AnswerRequest(
        model=unquote(named[1]),
        cap=output_cap(config if isinstance(config, dict) else {}, "maxTokens"),
        input_tokens=estimate_tokens(*texts),
        body=body,
    )


def _key(request: Request) -> str:
    """The bearer token, or the access key of a signature, which is not verified."""
    signed = _SIGNED_BY.match(request.headers.get("authorization", ""))
    return signed[1] if signed else bearer(request)


SIMULATED_DIALECT: Final = SimulatedDialect(
    path=_PATH,
    parse_request=_parse_request,
    key=_key,
    answer=BedrockAnswer,
    rate_limit_response=rate_limit_response,
    error_response=error_response,
)
