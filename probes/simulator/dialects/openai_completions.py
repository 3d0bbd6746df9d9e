"""OpenAI's legacy completions: chunks of text; reasoning is in it, between the tags that the model writes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from probes.events import Kind
from probes.simulator.answer_plan import PlannedChunk
from probes.simulator.dialects.dialect import SimulatedDialect, bearer
from probes.simulator.dialects.openai_chat import ChatAnswer, error_response, rate_limit_response
from probes.simulator.request import Ask, Request, body_of, cap_of, tokens_in
from probes.simulator.script import Act


class CompletionsAnswer(ChatAnswer):
    """One answer's stream of chunks."""

    SORT = "text_completion"

    def acts(self) -> Iterator[Act]:
        """The acts of a chat's answer, with the reasoning in the text between its tags."""
        tagged = replace(self.course, pieces=_tagged(self.course.pieces))
        yield from super(CompletionsAnswer, replace(self, course=tagged)).acts()

    def _choice(self, delta: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
        return {"index": 0, "text": delta.get("content", ""), "logprobs": None, "finish_reason": finish_reason}

    def _delta(self, piece: PlannedChunk) -> dict[str, Any]:
        return {"content": piece.text}


def _tagged(pieces: Sequence[PlannedChunk]) -> tuple[PlannedChunk, ...]:
    """The pieces with tags around the reasoning, as a model writes them that no parser stands behind."""
    tagged = list(pieces)
    thoughts = [place for place, one in enumerate(tagged) if one.kind is Kind.REASONING]
    if not thoughts:
        return tuple(tagged)
    tagged[thoughts[0]] = replace(tagged[thoughts[0]], text=f"<think>{tagged[thoughts[0]].text}")
    if (after := thoughts[-1] + 1) < len(tagged):
        tagged[after - 1] = replace(tagged[after - 1], text=f"{tagged[after - 1].text}</think>")
        tagged[after] = replace(tagged[after], text=tagged[after].text.lstrip())
    return tuple(tagged)


def _parse_request(request: Request) -> Ask:
    body = body_of(request.body)
    if not isinstance(body.get("model"), str):
        raise ValueError("you must provide a model parameter")
    if not isinstance(body.get("prompt"), str) or not body["prompt"]:
        raise ValueError("you must provide a prompt parameter")
    options = body.get("stream_options") or {}
    return Ask(
        model=body["model"],
        cap=cap_of(body, "max_tokens"),
        input_tokens=tokens_in(body["prompt"]),
        stream=body.get("stream") is True,
        usage=isinstance(options, dict) and options.get("include_usage") is True,
        body=body,
    )


SIMULATED_DIALECT: Final = SimulatedDialect(
    path=re.compile("/(?:.+/)?(?<!chat/)completions"),
    parse_request=_parse_request,
    key=bearer,
    answer=CompletionsAnswer,
    rate_limit_response=rate_limit_response,
    error_response=error_response,
)
