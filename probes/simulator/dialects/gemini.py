"""Gemini: whole responses as nameless events, usage on each, no marker at the end (ai.google.dev/gemini-api/docs)."""

import math
import re
from collections.abc import Iterator, Mapping
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
    bearer,
    compact,
)
from probes.simulator.faults.error_shapes import gemini_error, gemini_exhausted
from probes.simulator.faults.fault import ReplacedResponse
from probes.simulator.limiter import Admission
from probes.simulator.request import AnswerRequest, Request, Thinking, estimate_tokens, json_body, output_cap
from probes.simulator.script import SSE, Act, EndOfResponse, Head, SentEvent

_PATH: Final = re.compile(r"/(?:.+/)?models/([^/:?]+):streamGenerateContent")
_DAY_S: Final = 86_400.0


class GeminiAnswer(SimulatedAnswer):
    """One answer's stream of responses. Hidden thoughts are counted too, from the first response on."""

    def acts(self) -> Iterator[Act]:
        """The head, the chunks, and an empty part with a signature and the finish reason; then the body just ends."""
        end_ms = self.plan.end_ms
        shown = any(one.kind is Kind.REASONING for one in self.plan.chunks)
        thoughts, candidates = (0 if shown else self.plan.reasoning_tokens), 0
        yield self._head()
        yield from self.comments()
        for chunk in self.plan.chunks:
            if chunk.kind is Kind.REASONING:
                thoughts += chunk.tokens
            else:
                candidates += chunk.tokens
            data = self._response([_part(chunk)], thoughts, candidates)
            yield SentEvent(chunk.due_ms, data, chunk.kind, chunk.text, chunk.tokens)
        last = {"text": "", "thoughtSignature": "c2ltdWxhdGVkIHNpZ25hdHVyZQ=="}
        yield SentEvent(end_ms, self._response([last], thoughts, candidates, self._finish_reason()))
        yield EndOfResponse(end_ms)

    def _head(self) -> Head:
        tier = self.behaviour.service_tier
        return self.head(SSE if tier is None else {**SSE, "x-gemini-service-tier": tier})

    def _response(
        self, parts: list[dict[str, Any]], thoughts: int, candidates: int, finish_reason: str | None = None
    ) -> bytes:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish_reason is not None:
            candidate["finishReason"] = finish_reason
        body: dict[str, Any] = {"candidates": [candidate]}
        if self.behaviour.usage != "never":
            body["usageMetadata"] = self._usage(thoughts, candidates)
        body |= {"modelVersion": self.model, "responseId": self.request_id}
        return b"data: " + compact(body) + b"\r\n\r\n"

    def _usage(self, thoughts: int, candidates: int) -> dict[str, Any]:
        """The counts so far, zeros left out. Gateways with this API may not count the thoughts separately."""
        prompt = self.plan.input_tokens
        if not self.behaviour.reasoning_split:
            thoughts, candidates = 0, candidates + thoughts
        counts: dict[str, Any] = {
            "promptTokenCount": prompt,
            "candidatesTokenCount": candidates,
            "totalTokenCount": prompt + candidates + thoughts,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
            "thoughtsTokenCount": thoughts,
        }
        return {name: value for name, value in counts.items() if value} | dict(self.behaviour.usage_extra)

    def _finish_reason(self) -> str:
        if self.plan.finish_reason == "length":
            return "MAX_TOKENS"
        return "SAFETY" if self.behaviour.kind is Kind.REFUSAL else "STOP"


def error_response(problem: Problem) -> ReplacedResponse:
    """An error response as Google writes it."""
    match problem:
        case UnknownModel(model):
            message = f"models/{model} is not found for API version v1beta, or is not supported for generateContent."
            return ReplacedResponse(404, gemini_error("NOT_FOUND", message))
        case NotStreaming():
            return ReplacedResponse(
                400, gemini_error("INVALID_ARGUMENT", "The simulator only streams events: alt=sse is missing.")
            )
        case RejectedKey():
            reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            message = "API key not valid. Please pass a valid API key."
            return ReplacedResponse(400, gemini_error("INVALID_ARGUMENT", message, reason))
        case BadRequest(message):
            return ReplacedResponse(400, gemini_error("INVALID_ARGUMENT", message))


def rate_limit_response(behaviour: Behaviour, admission: Admission) -> Head:
    """The response to a refused request: no header says so, the body has the quota and the wait."""
    allowance = behaviour.allowance
    by_tokens = admission.refused_by == "tokens"
    window_s = 0.0
    if allowance is not None:
        window_s = allowance.tokens_window_s if by_tokens else allowance.requests_window_s
    body = gemini_exhausted(
        "day" if window_s >= _DAY_S else "minute",
        "tokens" if by_tokens else "requests",
        math.ceil(admission.retry_after_s),
    )
    return Head(0.0, 429, {"content-type": "application/json; charset=UTF-8"}, compact(body))


def _part(chunk: PlannedChunk) -> dict[str, Any]:
    match chunk.kind:
        case Kind.REASONING:
            return {"text": chunk.text, "thought": True}
        case Kind.TOOL:  # arguments are an object here, and whole
            return {"functionCall": {"name": "say", "args": {"text": chunk.text}}}
        case _:
            return {"text": chunk.text}


def _parse_request(request: Request) -> AnswerRequest:
    path, _, query = request.path.partition("?")
    named = _PATH.fullmatch(path)
    if named is None:
        raise ValueError(f"no model is named in {path}")
    body = json_body(request.body)
    if not isinstance(body.get("contents"), list) or not body["contents"]:
        raise ValueError("* GenerateContentRequest.contents: contents is not specified")
    wanted = _mapping(body.get("generationConfig"))
    parts = [part for one in body["contents"] for part in _mapping(one).get("parts") or ()]
    return AnswerRequest(
        model=named[1],
        cap=output_cap(wanted, "maxOutputTokens"),
        input_tokens=estimate_tokens(*(_mapping(one).get("text", "") for one in parts)),
        stream="alt=sse" in query.split("&"),
        thinking=_thinking(_mapping(wanted.get("thinkingConfig"))),
        body=body,
    )


def _thinking(config: Mapping[str, Any]) -> Thinking:
    if config.get("thinkingBudget") == 0:
        return "off"
    return "shown" if config.get("includeThoughts") is True else "hidden"


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _key(request: Request) -> str:
    """The developer API's header, or Vertex' bearer."""
    return request.headers.get("x-goog-api-key") or bearer(request)


SIMULATED_DIALECT: Final = SimulatedDialect(
    path=_PATH,
    parse_request=_parse_request,
    key=_key,
    answer=GeminiAnswer,
    rate_limit_response=rate_limit_response,
    error_response=error_response,
)
