"""OpenAI chat completions and its look-alikes: server-sent chunks, with the API habits of a behaviour."""

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from probes.events import Kind
from probes.simulator.answer_plan import PlannedChunk
from probes.simulator.behaviour import Behaviour
from probes.simulator.dialects.chat_usage import llamacpp, timings, usage
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
from probes.simulator.faults.fault import ReplacedResponse
from probes.simulator.limit_responses import openai_rate_limit_response
from probes.simulator.limiter import Admission
from probes.simulator.request import AnswerRequest, Request, estimate_tokens, json_body, output_cap
from probes.simulator.script import Act, EndOfResponse, Head, SentEvent


def parse_body(data: bytes) -> AnswerRequest:
    """The answer that a request body asks for. Raises ValueError, with what is wrong, where it is not valid."""
    body = json_body(data)
    if not isinstance(body.get("model"), str):
        raise ValueError("you must provide a model parameter")
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise ValueError("you must provide a messages parameter")
    options = body.get("stream_options") or {}
    return AnswerRequest(
        model=body["model"],
        cap=output_cap(body, "max_completion_tokens", "max_output_tokens", "max_tokens"),
        input_tokens=estimate_tokens(*(one.get("content", "") for one in body["messages"] if isinstance(one, dict))),
        stream=body.get("stream") is True,
        usage=isinstance(options, dict) and options.get("include_usage") is True,
        body=body,
    )


class ChatAnswer(SimulatedAnswer):
    """One answer's stream of chunks, each with the field ``object`` set to ``OBJECT``."""

    OBJECT = "chat.completion.chunk"

    def acts(self) -> Iterator[Act]:
        """The head, the chunks in order of their due times, the marker and the end."""
        end_ms = self.plan.end_ms
        yield self.head(id_header=self.behaviour.request_id_header)
        if self.behaviour.role_first:
            yield self._event(self.plan.ttfb_ms, {"role": "assistant", "content": ""}, written=0)
        yield from self.comments()
        written = 0
        for chunk in self.plan.chunks:
            first = written == 0
            written += chunk.tokens
            yield self._output(chunk, first, written)
        yield self._finish(end_ms)
        if self._usage_apart:
            yield self._data(end_ms, {"choices": [], "usage": self._usage(), **self._timings_of_last()})
        if self.behaviour.done:
            yield SentEvent(end_ms, b"data: [DONE]\n\n")
        yield EndOfResponse(end_ms)

    @property
    def _usage_apart(self) -> bool:
        wanted = self.request.usage or not self.behaviour.usage_when_asked
        return self.behaviour.usage == "own_chunk" and wanted

    def _output(self, chunk: PlannedChunk, first: bool, written: int) -> SentEvent:
        delta = self._delta(chunk)
        if first and not self.behaviour.role_first:
            delta = {"role": "assistant", **delta}
        data = self._event(chunk.due_ms, delta, written=written).data
        return SentEvent(chunk.due_ms, data, chunk.kind, chunk.text, chunk.tokens)

    def _delta(self, chunk: PlannedChunk) -> dict[str, Any]:
        style = self.behaviour.reasoning_style
        match chunk.kind:
            case Kind.REASONING if style == "parts":
                thinking = [{"type": "text", "text": chunk.text}]
                return {"content": [{"type": "thinking", "thinking": thinking}]}
            case Kind.REASONING if style == "reasoning_content":  # DeepSeek's content is null meanwhile
                return {"content": None, "reasoning_content": chunk.text}
            case Kind.REASONING:
                return {"reasoning": chunk.text}
            case Kind.REFUSAL:
                return {"refusal": chunk.text}
            case Kind.TOOL:
                return {"tool_calls": [{"index": 0, "function": {"arguments": chunk.text}}]}
            case _ if style == "parts":
                return {"content": [{"type": "text", "text": chunk.text}]}
            case _:
                return {"content": chunk.text}

    def _choice(self, delta: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
        return {"index": 0, "delta": delta, "finish_reason": finish_reason}

    def _event(self, due_ms: float, delta: Mapping[str, Any], written: int) -> SentEvent:
        body: dict[str, Any] = {"choices": [self._choice(delta, None)]}
        if self.behaviour.usage == "every_chunk":
            body["usage"] = self._usage(written)
        elif self._usage_apart:
            body["usage"] = None
        if self.behaviour.timings == "llamacpp" and self.request.body.get("timings_per_token") is True:
            body["timings"] = llamacpp(self.plan, written)
        return self._data(due_ms, body)

    def _finish(self, due_ms: float) -> SentEvent:
        choice = self._choice({}, self.plan.finish_reason)
        body: dict[str, Any] = {"choices": [choice]}
        match self.behaviour.usage:
            case "finish" | "every_chunk":
                body["usage"] = self._usage()
            case "x_groq":
                body["x_groq"] = {"id": self.request_id, "usage": self._usage()}
            case "choice":
                choice["usage"] = self._usage()
        # Cerebras and Fireworks send their times with the finish reason, llama.cpp with whatever chunk is the last
        if self.behaviour.timings != "llamacpp" or not self._usage_apart:
            body |= timings(self.behaviour, self.request, self.plan)
        return self._data(due_ms, body)

    def _timings_of_last(self) -> dict[str, Any]:
        llamacpp = self.behaviour.timings == "llamacpp"
        return timings(self.behaviour, self.request, self.plan) if llamacpp else {}

    def _usage(self, written: int | None = None) -> dict[str, Any]:
        return usage(self.behaviour, self.plan, written)

    def _data(self, due_ms: float, body: Mapping[str, Any]) -> SentEvent:
        chunk: dict[str, Any] = {
            "id": self.request_id,
            "object": self.OBJECT,
            "created": int(time.time()),
            "model": self.model,
            "system_fingerprint": "fp_sim",  # Cerebras' own client takes nothing without one for a chunk
        }
        if self.behaviour.served_by is not None:
            chunk["provider"] = self.behaviour.served_by
        if self.behaviour.service_tier is not None:
            chunk["service_tier"] = self.behaviour.service_tier
        return SentEvent(due_ms, b"data: " + compact({**chunk, **body}) + b"\n\n")


def error_response(problem: Problem) -> ReplacedResponse:
    """An error response as OpenAI writes it."""
    match problem:
        case UnknownModel(model):
            message = f"The model `{model}` does not exist or you do not have access to it."
            return _error(404, message, "model_not_found")
        case NotStreaming():
            return _error(400, "The simulator only streams.", "unsupported_value")
        case RejectedKey(sent):
            # providers do echo keys in this message; inftop must not show them anywhere
            return _error(401, f"Incorrect API key provided: {sent}.", "invalid_api_key")
        case BadRequest(message):
            return _error(400, message, None)


def rate_limit_response(behaviour: Behaviour, admission: Admission) -> Head:
    """The response to a refused request, as the look-alike writes it."""
    return openai_rate_limit_response(behaviour.limits, admission)


def _error(status: int, message: str, code: str | None) -> ReplacedResponse:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return ReplacedResponse(status, {"error": error})


def _parse_request(request: Request) -> AnswerRequest:
    return parse_body(request.body)


# ``invocations`` are Databricks'
SIMULATED_DIALECT: Final = SimulatedDialect(
    path=re.compile("/(?:.+/)?(?:chat/completions|invocations)"),
    parse_request=_parse_request,
    key=bearer,
    answer=ChatAnswer,
    rate_limit_response=rate_limit_response,
    error_response=error_response,
)
