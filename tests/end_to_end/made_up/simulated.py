"""Murmur, a made-up dialect, as the simulator speaks it; it stands at ``probes/simulator/dialects/murmur.py``."""

import re
from collections.abc import Iterator
from typing import Final

from probes.events import Kind
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
from probes.simulator.faults.fault import ReplacedResponse
from probes.simulator.limiter import Admission
from probes.simulator.request import Ask, Request, body_of, cap_of, tokens_in
from probes.simulator.script import Act, EndOfResponse, Event, Head

_REASONS: Final = {"stop": "period", "length": "breath"}


class MurmurAnswer(SimulatedAnswer):
    """One answer's stream of lines."""

    def acts(self) -> Iterator[Act]:
        """The head, who speaks, a line for every piece, and the last with what was counted."""
        course = self.course
        yield self.head({"content-type": "application/x-ndjson"})
        yield Event(course.ttfb_ms, compact({"murmurer": self.model}) + b"\n")
        for piece in course.pieces:
            name = "thought" if piece.kind is Kind.REASONING else "word"
            yield Event(piece.due_ms, compact({name: piece.text}) + b"\n", piece.kind, piece.text, piece.tokens)
        split = {"thought": course.reasoning_tokens} if self.behaviour.reasoning_split else {}
        counts = {"heard": course.input_tokens, "said": course.output_tokens, **split}
        yield Event(course.end_ms, compact({"why": _REASONS[course.finish_reason], "counts": counts}) + b"\n")
        yield EndOfResponse(course.end_ms)


def rate_limit_response(behaviour: Behaviour, admission: Admission) -> Head:
    """The refusal of a limiter."""
    return Head(0.0, 429, {"content-type": "application/json"}, compact({"error": "hush: too many requests"}))


def error_response(problem: Problem) -> ReplacedResponse:
    """An error response: a text."""
    match problem:
        case UnknownModel(model):
            return ReplacedResponse(404, {"error": f"nobody is called {model}"})
        case RejectedKey():
            return ReplacedResponse(401, {"error": "wrong password"})
        case NotStreaming():
            return ReplacedResponse(400, {"error": "nothing but words"})
        case BadRequest(message):
            return ReplacedResponse(400, {"error": message})


def _parse_request(request: Request) -> Ask:
    body = body_of(request.body)
    if not isinstance(body.get("whisper"), str):
        raise ValueError("nothing was whispered")
    return Ask(
        model=str(body.get("model")), cap=cap_of(body, "words"), input_tokens=tokens_in(body["whisper"]), body=body
    )


def _key(request: Request) -> str:
    return request.headers.get("x-password", "")


SIMULATED_DIALECT: Final = SimulatedDialect(
    path=re.compile("/(?:.+/)?say"),
    parse_request=_parse_request,
    key=_key,
    answer=MurmurAnswer,
    rate_limit_response=rate_limit_response,
    error_response=error_response,
)
