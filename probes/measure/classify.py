"""Classifies a response: how the probe ended, with the detail in words; pure."""

import re
from typing import Final, NamedTuple

from probes.endpoint import Endpoint
from probes.events import CAPPED, Kind
from probes.figures.response import ResponseAccumulator
from probes.format import plural
from probes.outcome import Outcome
from probes.text import line

FILTERED: Final = frozenset(
    {
        *("content_filter", "refusal", "safety", "blocked"),
        *("recitation", "blocklist", "prohibited_content", "spii", "model_armor"),  # Gemini, Vertex
        *("guardrail_intervened", "content_filtered", "sensitive"),  # Bedrock; Zhipu
    }
)
"""Finish reasons, in lower case, by which a provider says that it would not answer."""


class Classification(NamedTuple):
    """How the probe ended; ``expect_ok`` is None where nothing was expected. The detail of an `ok` is a warning."""

    outcome: Outcome
    detail: str | None = None
    expect_ok: bool | None = None


def classify(answer: ResponseAccumulator, endpoint: Endpoint) -> Classification:
    """Classify an answer that was read to its end. Where it holds a failure, that is the outcome."""
    if refusal := _refusal(answer):
        return Classification(Outcome.REFUSED, line(f"the provider refused: {refusal}"))
    if answer.failure is not None:
        return Classification(answer.failure.outcome, answer.failure.detail)
    if not answer.kinds and not _reasoned_to_the_cap(answer, endpoint):
        return Classification(Outcome.EMPTY, _why_empty(answer))
    unanswered = _why_unanswered(answer, endpoint)
    warning = "; ".join(note for note in (unanswered, answer.note) if note) or None
    if endpoint.expect is None:
        return Classification(Outcome.OK, warning)
    if re.search(endpoint.expect, answer.text):
        return Classification(Outcome.OK, warning, expect_ok=True)
    missed = f"{unanswered} to match" if unanswered else "the answer does not match"
    return Classification(Outcome.WRONG_ANSWER, f"{missed} /{endpoint.expect}/", expect_ok=False)


def _refusal(answer: ResponseAccumulator) -> str:
    """The words in which the provider or its model refused to answer; empty where it did not refuse."""
    if answer.failure is not None:
        return answer.failure.detail if answer.failure.outcome is Outcome.REFUSED else ""
    filtered = (answer.finish or "").lower() in FILTERED
    said = answer.refusal.strip() or answer.finish_words
    if Kind.REFUSAL in answer.kinds and not filtered:
        return said or "refusal text"
    if not filtered:
        return ""
    return f"finish reason {answer.finish}{f': {said}' if said else ''}"


def _why_unanswered(answer: ResponseAccumulator, endpoint: Endpoint) -> str | None:
    """Why there was reasoning, seen or not, and nothing else; None where there was something else."""
    if answer.kinds - {Kind.REASONING}:
        return None
    if _reasoned_to_the_cap(answer, endpoint):
        return "the cap was reached while reasoning: no answer"
    return "the reasoning ended without an answer"


def _reasoned_to_the_cap(answer: ResponseAccumulator, endpoint: Endpoint) -> bool:
    """Whether the output cap was used up before an answer; the provider's count vouches for reasoning not streamed."""
    if not answer.kinds and not (answer.usage and answer.usage.reasoning):
        return False
    used = (answer.usage.output if answer.usage else None) or 0
    return (answer.finish or "").lower() in CAPPED or used >= endpoint.max_output_tokens


def _why_empty(answer: ResponseAccumulator) -> str:
    hidden = answer.usage.output if answer.usage else None
    if hidden:
        return f"no visible output, but {plural(hidden, 'token')} counted"
    return "200 without output"
