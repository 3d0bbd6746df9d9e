"""OpenAI's legacy completions: chunks of text, with the reasoning in it between the tags that the model writes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from probes.events import Kind
from probes.simulator.answer_plan import PlannedChunk
from probes.simulator.dialects.dialect import SimulatedDialect, bearer
from probes.simulator.dialects.openai_chat import ChatAnswer, error_response, rate_limit_response
from probes.simulator.request import AnswerRequest, Request, estimate_tokens, json_body, output_cap
from probes.simulator.script import Act


class CompletionsAnswer(ChatAnswer):
    """One answer's stream of chunks."""

    OBJECT = "text_completion"

    def acts(self) -> Iterator[Act]:
        """The acts of a chat answer, with the reasoning in the text between its tags."""
        tagged = replace(self.plan, chunks=_tagged(self.plan.chunks))
        yield from super(CompletionsAnswer, replace(self, plan=tagged)).acts()

    def _choice(self, delta: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
        return {"index": 0, "text": delta.get("content", ""), "logprobs": None, "finish_reason": finish_reason}

    def _delta(self, chunk: PlannedChunk) -> dict[str, Any]:
        return {"content": chunk.text}


def _tagged(chunks: Sequence[PlannedChunk]) -> tuple[PlannedChunk, ...]:
    """The chunks with tags around the reasoning, as a server without a reasoning parser passes them on."""
    tagged = list(chunks)
    thoughts = [place for place, one in enumerate(tagged) if one.kind is Kind.REASONING]
    if not thoughts:
        return tuple(tagged)
    tagged[thoughts[0]] = replace(tagged[thoughts[0]], text=f"<think>{tagged[thoughts[0]].text}")
    if (after := thoughts[-1] + 1) < len(tagged):
        tagged[after - 1] = replace(tagged[after - 1], text=f"{tagged[after - 1].text}</think>")
        tagged[after] = replace(tagged[after], text=tagged[after].text.lstrip())
    return tuple(tagged)


def _parse_request(request: Request) -> AnswerRequest:
    body = json_body(request.body)
    if not isinstance(body.get("model"), str):
        raise ValueError("you must provide a model parameter")
    if not isinstance(body.get("prompt"), str) or not body["prompt"]:
        raise ValueError("you must provide a prompt parameter")
    options = body.get("stream_options") or {}
    return AnswerRequest(
        model=body["model"],
        cap=output_cap(body, "max_tokens"),
        input_tokens=estimate_tokens(body["prompt"]),
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
