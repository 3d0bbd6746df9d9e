"""Anthropic Messages over server-sent events, and its fast mode.

Facts: platform.claude.com/docs (streaming, errors, fast-mode), the types of anthropic-sdk-python, recorded streams.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from probes.conversation import Conversation
from probes.endpoint import Endpoint
from probes.events import (
    Event,
    Failure,
    Finish,
    HiddenReasoning,
    Kind,
    Output,
    ServedBy,
    StreamEnd,
    Usage,
    raw_reasoning,
)
from probes.keys.secret import Secret
from probes.outcome import Outcome
from probes.text import line
from probes.wire.dialect import Dialect, WireRequest
from probes.wire.errors.failures import failure_in_stream, failure_instead_of_stream, failure_of_response
from probes.wire.framing.json_values import count, mapping, number, object_in, string, text_in
from probes.wire.framing.record_reader import SseReader
from probes.wire.http_request import json_request, request_id_events

VERSION: Final = "2023-06-01"
"""The ``anthropic-version`` that is sent where the endpoint's headers have no other."""

FAST_BETA: Final = "fast-mode-2026-02-01"
"""The beta that ``speed = "fast"`` needs, unless the endpoint's own ``anthropic-beta`` names another of fast mode."""

_FAST_LIMITS: Final = ("anthropic-fast-input-tokens-limit", "anthropic-fast-output-tokens-limit")

_TEXTS: Final[Mapping[str, tuple[str, Kind]]] = {
    # of a delta; signature_delta and citations_delta are no output
    "text_delta": ("text", Kind.ANSWER),
    "thinking_delta": ("thinking", Kind.REASONING),
    "input_json_delta": ("partial_json", Kind.TOOL),
    # of a block's start: empty as a rule, but its text would be part of the message
    "text": ("text", Kind.ANSWER),
    "thinking": ("thinking", Kind.REASONING),
}


_THINKING: Final = frozenset({"thinking", "redacted_thinking"})


class AnthropicMessages:
    """The dialect, which keeps no state. Request header names are in lower case."""

    name = "anthropic"

    def request(self, endpoint: Endpoint, conversation: Conversation, key: Secret | None) -> WireRequest:
        """The streaming request for one conversation; the endpoint's own headers and body fields win over ours.

        Raises TypeError where the endpoint's body holds what JSON cannot.
        """
        body: dict[str, Any] = {
            "model": endpoint.model,
            "max_tokens": endpoint.max_output_tokens,
            "messages": [{"role": one.role, "content": one.content} for one in conversation.turns],
            "stream": True,
        }
        if conversation.system is not None:
            body["system"] = conversation.system
        if endpoint.quirks.temperature and endpoint.temperature is not None:
            body["temperature"] = endpoint.temperature
        headers = {"anthropic-version": VERSION}
        if key is not None:
            headers["x-api-key"] = key.reveal()
        request = json_request(endpoint, "/messages", body, headers)
        return _fast(request) if endpoint.body.get("speed") == "fast" else request

    def reader(self) -> "AnthropicReader":
        """A fresh decoder for one 200 response."""
        return AnthropicReader()

    def response_events(self, headers: Mapping[str, str]) -> Iterable[Event]:
        """The request's id, to quote to support. Header names are lower case."""
        return request_id_events(headers)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
        """The failure of a response that is not a 200. ``body`` may be cut, empty, HTML or not text at all.

        A 429 with a fast-mode limit of 0 is no rate limit: the organisation may not use fast mode, and waiting does
        not change that (third-party reports).
        """
        found = failure_of_response(status, headers, body)
        closed = next((name for name in _FAST_LIMITS if number(headers.get(name)) == 0), None)
        if status != 429 or closed is None:
            return found
        detail = line(f"fast mode is not open to this organization ({closed}: 0): {found.detail}")
        return replace(found, outcome=Outcome.QUOTA, detail=detail)


class AnthropicReader(SseReader):
    """One response's decoder. Text is as sent, not yet safe to show.

    A delta holds several tokens and no event has a running count, so `Output` has none. A block of thinking without
    text (``display: omitted``) or a redacted one is hidden reasoning. Whether thinking is a summary is decided by the
    model's name: servers of other models have this API too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._served = ServedBy()
        self._input: dict[str, int] = {}
        self._finished = False
        self._thinking: Literal["shown", "hidden"] | None = None

    def _record(self, record: dict[str, Any], name: str) -> list[Event]:
        event_type = string(record.get("type")) or name
        if event_type == "error" or record.get("error"):
            return [failure_in_stream(record)]
        if event_type == "message_start":
            message = object_in(record, "message")
            usage = mapping(message.get("usage"))
            # its output_tokens are a placeholder, which would be taken for the count of a stream that is cut
            return [*self._served_events(message, usage), *self._counted(usage, final=False)]
        if event_type == "content_block_start":
            block = object_in(record, "content_block")
            self._thinking = "hidden" if string(block.get("type")) in _THINKING else None
            return self._piece(block)
        if event_type == "content_block_delta":
            return self._piece(object_in(record, "delta"))
        if event_type == "content_block_stop":
            hidden, self._thinking = self._thinking == "hidden", None
            return [HiddenReasoning()] if hidden else []
        if event_type == "message_delta":
            delta, usage = object_in(record, "delta"), mapping(record.get("usage"))
            reason, details = string(delta.get("stop_reason")), mapping(delta.get("stop_details"))
            explanation = ": ".join(one for name in ("category", "explanation") if (one := string(details.get(name))))
            finish = [Finish(line(reason, 100), line(explanation))] if reason else []
            self._finished = self._finished or bool(reason)
            return [*finish, *self._served_events({}, usage), *self._counted(usage, final=True)]
        if event_type == "message_stop":
            return [StreamEnd()]
        return []  # ping, and whatever else is to come: clients must ignore it

    def _piece(self, part: dict[str, Any]) -> list[Event]:
        """The output of a delta, or of a content block that starts, if it has any."""
        field, kind = _TEXTS.get(string(part.get("type")) or "", ("", Kind.ANSWER))
        text = text_in(part, field)
        if not text:
            return []
        if kind is not Kind.REASONING:
            return [Output(kind, text)]
        self._thinking = "shown"
        return [Output(kind, text, raw=raw_reasoning(self._served.model))]

    def _end_of_body(self) -> StreamEnd | Failure:
        if not self._begun and (instead := failure_instead_of_stream(self._decoder.stray)):
            return instead
        if self._finished:  # nothing but the marker comes after it
            return StreamEnd("the response ended without message_stop")
        return Failure(
            Outcome.CUT, f"the stream ended {'without message_stop' if self._begun else 'before its first record'}"
        )

    def _counted(self, usage: dict[str, Any], *, final: bool) -> list[Event]:
        """The counts so far: cumulative, and a later record may revise the input (43 → 61 tokens in a recording).

        ``input_tokens`` leaves out what was read from the cache or written to it.
        """
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
            if (tokens := count(usage.get(name))) is not None:
                self._input[name] = tokens
        details = mapping(usage.get("output_tokens_details")) if final else {}
        found = Usage(
            input=sum(self._input.values()) if "input_tokens" in self._input else None,
            cached=self._input.get("cache_read_input_tokens"),
            output=count(usage.get("output_tokens")) if final else None,
            reasoning=count(details.get("thinking_tokens")),
            cost_usd=number(usage.get("cost")),  # gateways: OpenRouter, LiteLLM
        )
        return [] if found == Usage() else [found]

    def _served_events(self, message: dict[str, Any], usage: dict[str, Any]) -> list[Event]:
        """What served, where that has changed. ``usage.speed`` may come with either usage (which one is unverified)."""
        model, tier, response_id = (
            line(one, 200) if one else None
            for one in (string(message.get("model")), _tier(usage), string(message.get("id")))
        )
        old = self._served
        self._served = ServedBy(model or old.model, tier or old.tier, None, old.request_id or response_id)
        return [] if self._served == old else [self._served]


def _fast(request: WireRequest) -> WireRequest:
    """``request`` with the beta header of fast mode beside whatever betas the endpoint asks for."""
    betas = [one for one in map(str.strip, request.headers.get("anthropic-beta", "").split(",")) if one]
    if any(one.startswith("fast-mode-") for one in betas):
        return request
    return replace(request, headers={**request.headers, "anthropic-beta": ",".join([*betas, FAST_BETA])})


def _tier(usage: dict[str, Any]) -> str | None:
    """The speed served ("fast", "standard"), else the tier, unless that is "standard", which is not about speed."""
    tier = string(usage.get("service_tier"))
    return string(usage.get("speed")) or (tier if tier != "standard" else None)


DIALECT: Final[Dialect] = AnthropicMessages()
