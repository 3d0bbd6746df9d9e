"""OpenAI's legacy completions over server-sent events: a text goes on, without a chat template.

vLLM, SGLang, llama.cpp, TGI, LM Studio, Together, Fireworks and others serve it, base models mostly. Facts:
openai-python (``types/completion.py``, ``completion_create_params.py``), vLLM (``entrypoints/openai``), llama.cpp
(``tools/server``).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from probes.conversation import Conversation
from probes.endpoint import Endpoint
from probes.keys import Secret
from probes.outcome import Outcome
from probes.text import line
from probes.wire.chat_usage import times_of, usage_of
from probes.wire.dialect import End, Event, Finish, Kind, Output, Served, Trouble, WireRequest
from probes.wire.http_json import bearer, json_request, served_request
from probes.wire.json_values import mapping, word
from probes.wire.repetition import Repetition
from probes.wire.sse import SseEvent
from probes.wire.sse_reader import SseReader
from probes.wire.trouble import is_error, trouble, trouble_inside, trouble_instead


class Wire:
    """The dialect. Request header names are in lower case."""

    name = "openai_completions"

    def request(self, endpoint: Endpoint, asked: Conversation, key: Secret | None) -> WireRequest:
        """The streaming request for one conversation, its messages joined to one text.

        The endpoint's own headers and body fields win over ours. Raises TypeError where its body holds what JSON
        cannot.
        """
        quirks = endpoint.quirks
        body: dict[str, Any] = {
            "model": endpoint.model,
            "prompt": asked.text,
            "stream": True,
            "max_tokens": endpoint.max_output_tokens,
        }
        if quirks.temperature and endpoint.temperature is not None:
            body["temperature"] = endpoint.temperature
        if quirks.usage_option or quirks.continuous_usage:
            body["stream_options"] = {"include_usage": True}
        if quirks.continuous_usage:
            body["stream_options"]["continuous_usage_stats"] = True
        return json_request(endpoint, "/completions", body, bearer(key))

    def reader(self) -> "CompletionReader":
        """A fresh decoder for one 200 response."""
        return CompletionReader()

    def response_events(self, headers: Mapping[str, str]) -> Iterable[Event]:
        """The request's id, to quote to support. Header names are lower case."""
        return served_request(headers)

    def trouble(self, status: int, headers: Mapping[str, str], body: bytes) -> Trouble:
        """What a response that is not a 200 means. ``body`` may be cut, empty, HTML or not text at all."""
        return trouble(status, headers, body)


class CompletionReader(SseReader):
    """One response's decoder. Only the choice of index 0 is read: one is asked for. Text is as sent."""

    def __init__(self) -> None:
        super().__init__()
        self._finish: str | None = None
        self._served = Served()
        self._repetition = Repetition()

    def _verdict(self) -> End | Trouble:
        """A text with a finish reason is whole without a ``[DONE]``: not every server sends one."""
        instead = trouble_instead(self._decoder.stray)
        if instead and (instead.outcome is not Outcome.PROTOCOL or not self._begun):
            return instead
        if self._finish is not None:
            return End("the response ended without [DONE]")
        begun = "without a finish reason or [DONE]" if self._begun else "before its first record"
        return Trouble(Outcome.CUT, f"the stream ended {begun}")

    def _events(self, sse: SseEvent) -> list[Event]:
        if sse.data.strip() == "[DONE]":
            return [End()]
        if sse.name:
            return super()._events(sse)
        if (again := self._repetition.output(sse.data)) is not None:
            return [again]
        events = super()._events(sse)
        self._repetition.learn(sse.data, events)
        return events

    def _record(self, record: dict[str, Any], name: str) -> list[Event]:
        """The events of one record, a `Trouble` last."""
        choice = _first_choice(record.get("choices"))
        counts, timings = mapping(record.get("usage") or choice.get("usage")), mapping(record.get("timings"))
        usage = usage_of(counts, timings)
        events = self._say_served(record)
        # Together repeats the text in a chat's delta
        if text := word(choice.get("text")) or word(mapping(choice.get("delta")).get("content")):
            events.append(Output(Kind.ANSWER, text, (usage.output if usage else None) or None))
        finish = word(choice.get("finish_reason"))
        if finish and finish != self._finish:
            self._finish = finish
            events.append(Finish(line(finish, 100)))
        times = times_of(record, counts, usage.output if usage else None)
        events += [one for one in (usage, times) if one]
        if name == "error" or is_error(record):
            events.append(trouble_inside(record))
        return events

    def _say_served(self, record: dict[str, Any]) -> list[Event]:
        """The model, the id and the build, where one of them is news."""
        fields = (record.get(name) for name in ("model", "provider", "id", "system_fingerprint"))
        model, by, called, build = (line(known, 200) if (known := word(one)) else None for one in fields)
        old = self._served
        self._served = Served(
            model or old.model, None, by or old.by, old.request_id or called, build or old.fingerprint
        )
        return [] if self._served == old else [self._served]


def _first_choice(choices: object) -> dict[str, Any]:
    found = (one for one in choices if isinstance(one, dict)) if isinstance(choices, list) else iter(())
    return next((one for one in found if one.get("index") in (0, None)), {})
