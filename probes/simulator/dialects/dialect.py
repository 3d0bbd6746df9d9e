"""What a dialect of the simulator consists of: the class of its answers, its errors, and how its requests are read."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from probes.simulator.answer_plan import AnswerPlan
from probes.simulator.behaviour import Behaviour
from probes.simulator.faults.fault import ReplacedResponse
from probes.simulator.limiter import Admission
from probes.simulator.request import AnswerRequest, Request
from probes.simulator.script import SSE, Act, Head, SentEvent

# text is sent as UTF-8, not escaped: U+2028 inside a line is one of the things that clients get wrong
_encoder: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def compact(value: object) -> bytes:
    """A value as JSON of one line."""
    return _encoder.encode(value).encode()


@dataclass(frozen=True, slots=True)
class BadRequest:
    """The request is not valid; ``message`` says why."""

    message: str


@dataclass(frozen=True, slots=True)
class UnknownModel:
    """No model of this name is served."""

    model: str


@dataclass(frozen=True, slots=True)
class NotStreaming:
    """The request asks for an answer that is not streamed."""


@dataclass(frozen=True, slots=True)
class RejectedKey:
    """The key ``sent`` with the request, empty for none, is not the model's."""

    sent: str


Problem = BadRequest | UnknownModel | NotStreaming | RejectedKey


@dataclass(frozen=True, slots=True)
class SimulatedAnswer(ABC):
    """One answer to write. ``headers`` are added to those of its stream."""

    behaviour: Behaviour
    request: AnswerRequest
    plan: AnswerPlan
    request_id: str
    headers: Mapping[str, str]

    @abstractmethod
    def acts(self) -> Iterator[Act]:
        """The head, the events in order of their due times, and the end."""

    @property
    def model(self) -> str:
        """The name of what really served."""
        return self.behaviour.served_model or self.request.model

    def head(self, kind: Mapping[str, str] = SSE, id_header: str | None = None) -> Head:
        """The head of the stream, with the request id in the header ``id_header`` where the provider sends one."""
        headers = {**kind, **self.headers}
        if id_header is not None:
            headers[id_header] = self.request_id
        if self.behaviour.timings == "openai":
            headers["openai-processing-ms"] = str(round(self.plan.ttfb_ms))
        return Head(self.plan.ttfb_ms, 200, headers)

    def comments(self) -> Iterator[SentEvent]:
        """The behaviour's comments between headers and first token."""
        if self.behaviour.comment is not None:
            yield from self.waiting(f":{self.behaviour.comment}\n\n".encode())

    def waiting(self, data: bytes) -> Iterator[SentEvent]:
        """``data`` at the intervals of the behaviour's comments, until the first token is due."""
        for place in count(1):
            due_ms = self.plan.ttfb_ms + place * self.behaviour.comment_every_ms
            if due_ms >= self.plan.ttft_ms:
                return
            yield SentEvent(due_ms, data)


@dataclass(frozen=True, slots=True)
class SimulatedDialect:
    """One wire format, as the simulator serves it.

    ``path`` matches the whole path, without its query, of the requests it answers, below whatever a base URL ends with
    (``/v1``, Groq's ``/openai/v1``, Fireworks' ``/inference/v1``, nothing). No two dialects match the same path, except
    one over HTTP and one ``over_socket``, whose requests are messages of a WebSocket. ``parse_request`` raises
    ValueError, in the provider's words, for a request that is not valid. ``key`` returns the API key that a request
    came with, empty for none. ``answer`` is the class that writes an answer; ``rate_limit_response`` is the response
    where the limiter admits nothing now, ``error_response`` the one to every other `Problem`.
    """

    path: re.Pattern[str]
    parse_request: Callable[[Request], AnswerRequest]
    key: Callable[[Request], str]
    answer: type[SimulatedAnswer]
    rate_limit_response: Callable[[Behaviour, Admission], Head]
    error_response: Callable[[Problem], ReplacedResponse]
    over_socket: bool = False


def bearer(request: Request) -> str:
    """The bearer token of a request; empty for none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme == "Bearer" else ""
