"""Events of OpenAI's Responses API, the same objects whether server-sent events or WebSocket messages carry them.

Facts: openai-python (``types/responses``, ``_streaming.py``), recorded streams (vercel/ai), and llama.cpp's own server,
which was run. xAI, OpenRouter, vLLM and LM Studio serve it too.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from probes.conversation import Conversation
from probes.endpoint import Endpoint
from probes.events import Event, Failure, Finish, HiddenReasoning, Kind, Output, ServedBy, StreamEnd, Usage
from probes.outcome import Outcome
from probes.text import line
from probes.wire.chat_usage import leaves_out, times_of
from probes.wire.errors.failures import failure_in_stream
from probes.wire.framing.json_values import count, mapping, number, object_in, string, text_in

_DELTAS: Final[Mapping[str, Kind]] = {
    "response.output_text.delta": Kind.ANSWER,
    "response.reasoning_text.delta": Kind.REASONING,
    "response.reasoning_summary_text.delta": Kind.REASONING,
    "response.refusal.delta": Kind.REFUSAL,
    "response.function_call_arguments.delta": Kind.TOOL,
    "response.custom_tool_call_input.delta": Kind.TOOL,
}
"""The events with output. Their ``obfuscation`` is padding, and ``*.done`` repeats the text."""

_SUMMARY: Final = "response.reasoning_summary_text.delta"

_ITEMS: Final = frozenset({"response.output_item.added", "response.output_item.done"})

_TERMINAL: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})


def request_body(endpoint: Endpoint, conversation: Conversation) -> dict[str, Any]:
    """The fields of a request for one conversation that both transports send; the endpoint's own are not yet merged in.

    ``max_output_tokens`` includes reasoning. Nothing is stored on the provider's side.
    """
    first, *others = turns = conversation.turns
    alone = first.role == "user" and not others
    body: dict[str, Any] = {
        "model": endpoint.model,
        "input": first.content if alone else [{"role": one.role, "content": one.content} for one in turns],
        "max_output_tokens": endpoint.max_output_tokens,
        "store": False,
    }
    if conversation.system is not None:
        body["instructions"] = conversation.system
    if endpoint.quirks.temperature and endpoint.temperature is not None:
        body["temperature"] = endpoint.temperature
    return body


class ResponseEvents:
    """Decodes the event objects of one response, in the order they come. Text is as sent, not yet safe to show."""

    def __init__(self) -> None:
        self._served = ServedBy()
        self._reasoning: Literal["begun", "shown", "over"] | None = None

    def read(self, record: dict[str, Any], name: str = "") -> list[Event]:
        """The events of one object, a `StreamEnd` or `Failure` last; ``name`` stands in for a missing ``type``.

        Of an ``error`` and the ``response.failed`` after it the first counts: it is the one with type and code. Every
        object with an ``error`` is one, as openai-python has it. Unknown objects are ignored: ``keepalive`` and more
        come undocumented (openai-node, issue 1964).
        """
        event_type = string(record.get("type")) or name
        if event_type == "error" or record.get("error"):
            return [_failure(record)]
        if kind := _DELTAS.get(event_type):
            text = text_in(record, "delta")
            running = count(mapping(record.get("timings")).get("predicted_n"))  # llama.cpp with timings_per_token
            if kind is not Kind.REASONING:
                return [Output(kind, text, running or None)] if text else []
            if not text:
                return []
            self._reasoning = "shown"
            return [Output(kind, text, running or None, raw=event_type != _SUMMARY)]
        if event_type in _ITEMS and mapping(record.get("item")).get("type") == "reasoning":
            return self._reasoning_item(over=event_type.endswith("done"))
        response = object_in(record, "response")
        events = self._served_events(response, final=event_type in _TERMINAL)
        if event_type not in _TERMINAL:
            return events
        items = response.get("output")
        reasoned = any(mapping(one).get("type") == "reasoning" for one in items) if isinstance(items, list) else False
        if self._reasoning == "begun" or (self._reasoning is None and reasoned):
            events.append(HiddenReasoning())
        usage = _usage_of(mapping(response.get("usage")))
        times = times_of(record, {}, None) if "timings" in record else None
        events += [one for one in (usage, times) if one]
        return [*events, *_ending(event_type, response)]

    def _reasoning_item(self, *, over: bool) -> list[Event]:
        """The events of a reasoning item that begins or is over: hidden reasoning where no text of it was sent."""
        hidden = over and self._reasoning != "shown"
        self._reasoning = "over" if over else "begun"
        return [HiddenReasoning()] if hidden else []

    def _served_events(self, response: dict[str, Any], *, final: bool) -> list[Event]:
        """What served. Until the response has ended its ``service_tier`` is only the requested one."""
        tier = response.get("service_tier") if final else None
        named = string(response.get("model")), string(tier), string(response.get("id"))
        model, tier, request_id = (line(one, 200) if one else None for one in named)
        old = self._served
        self._served = ServedBy(model or old.model, tier or old.tier, None, old.request_id or request_id)
        return [] if self._served == old else [self._served]


def _ending(event_type: str, response: dict[str, Any]) -> list[Event]:
    """The events of a response's end. "Incomplete" is an end like any other: the probe's own token cap causes it."""
    if event_type == "response.failed":
        if error := response.get("error"):
            return [failure_in_stream({"error": error})]
        return [Failure(Outcome.STREAM_ERROR, "the response failed, no error told")]
    reason = string(mapping(response.get("incomplete_details")).get("reason"))
    status = string(response.get("status")) or event_type.removeprefix("response.")
    return [Finish(line(reason or status, 100)), StreamEnd()]


def _failure(record: dict[str, Any]) -> Failure:
    """The failure of an ``error`` object, nested or flat; over a WebSocket its headers are inside it."""
    return failure_in_stream({name: value for name, value in record.items() if name != "type"})


def _usage_of(counts: dict[str, Any]) -> Usage | None:
    prompt, output = count(counts.get("input_tokens")), count(counts.get("output_tokens"))
    reasoning = count(mapping(counts.get("output_tokens_details")).get("reasoning_tokens"))
    if output is not None and reasoning and leaves_out(reasoning, prompt, output, count(counts.get("total_tokens"))):
        output += reasoning
    cached = count(mapping(counts.get("input_tokens_details")).get("cached_tokens"))
    found = Usage(prompt, cached, output, reasoning, number(counts.get("cost")))  # cost: OpenRouter
    return None if found == Usage() else found
