"""Timing: from marks and token counts to the numbers of a sample; pure, and the only place the formulas live."""

from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, sub
from typing import Final, Literal

from probes.marks import Content, Marks, Step
from probes.plausible import FASTEST
from probes.stats import quantile
from probes.wire.dialect import Kind, Usage

FEWEST_EVENTS: Final = 3
"""Content events below which a decode speed says more about chunking than about the model."""

SHORTEST_SPAN_MS: Final = 50.0
"""Span of output below which a decode speed is arithmetic on noise (a buffering proxy, one flush)."""

CHARS_PER_TOKEN: Final = 4
"""For the estimate that budgets use where a provider sent no count; never for a speed."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts of one answer. ``output`` includes ``reasoning``; ``refused``: the provider's cannot be true."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None
    source: Literal["usage", "estimate"] | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Speed:
    """A decode speed in tokens per second, or the reason there is none."""

    tokens_per_s: float | None = None
    withheld: str | None = None


def count(usage: Usage | None, output_chars: int, *, refused: bool = False) -> Tokens:
    """The provider's own counts; else, where there was output, an estimate of it marked as one; else nothing.

    ``refused``: the provider named a count that cannot be true (`probes.plausible`), so there is an estimate, be it 0.
    """
    if usage is not None and usage.output is not None:
        return Tokens(usage.input, usage.cached, usage.output, usage.reasoning, "usage")
    partial = usage or Usage()
    if not output_chars and not refused:
        return Tokens(partial.input, partial.cached)
    estimate = -(-output_chars // CHARS_PER_TOKEN)
    return Tokens(partial.input, partial.cached, estimate, partial.reasoning, "estimate", refused)


def span_ms(start: int | None, stop: int | None) -> float | None:
    """From one mark to another in milliseconds, or None where either is missing."""
    return None if start is None or stop is None else round((stop - start) / 1e6, 4)


def step_ms(step: Step | None) -> float | None:
    """How long a step of a connection's set-up took, milliseconds; None where it was not taken."""
    return None if step is None else span_ms(step.start, step.stop)


def ttft_ms(marks: Marks) -> float | None:
    """Sent → the first event with non-empty output of any kind."""
    return span_ms(marks.sent, marks.contents[0].at) if marks.contents else None


def ttfa_ms(marks: Marks) -> float | None:
    """Sent → the first non-empty answer text."""
    return span_ms(marks.sent, next((one.at for one in marks.contents if one.kind is Kind.ANSWER), None))


def e2e_ms(marks: Marks) -> float | None:
    """Sent → the last output event."""
    return span_ms(marks.sent, marks.contents[-1].at) if marks.contents else None


def speed(contents: list[Content], tokens: Tokens) -> Speed:
    """Decode speed: (n − n_first) / (last output − first output), or why it would be a lie.

    n_first, the tokens of the first event, comes from its running usage, else from its share of the characters, and
    is at least 1. Reasoning that was counted but not streamed was decoded before the first visible event, so n is
    then the visible tokens; a running count that leaves it out is none. Reasoning that was streamed as a summary (fewer
    characters than tokens) fits neither, and drafts fit nothing: in each of them come all tokens so far, some of them
    noise.
    """
    if any(map(attrgetter("draft"), contents)):
        return Speed(withheld="the whole answer came again and again, in drafts")
    if tokens.source != "usage" or tokens.output is None:
        why = "the provider's token count cannot be true" if tokens.refused else "the provider sent no token count"
        return Speed(withheld=why)
    if len(contents) < FEWEST_EVENTS:
        return Speed(withheld=f"{len(contents)} content events, fewer than {FEWEST_EVENTS}")
    span = (contents[-1].at - contents[0].at) / 1e6
    if span < SHORTEST_SPAN_MS:
        return Speed(withheld=f"output spans {span:.1f} ms, under {SHORTEST_SPAN_MS:.0f} ms")
    first, reasoning = contents[0], tokens.reasoning or 0
    reasoning_chars = sum(one.chars for one in contents if one.kind is Kind.REASONING) if reasoning else 0
    if first.tokens is not None and (reasoning_chars or first.tokens >= reasoning):
        decoded = float(tokens.output - max(first.tokens, 1))
    else:
        if 0 < reasoning_chars < reasoning:
            return Speed(withheld="the reasoning was streamed as a summary of what was counted")
        visible = tokens.output if reasoning_chars else tokens.output - reasoning
        chars = sum(map(attrgetter("chars"), contents))
        decoded = visible - max(1.0, visible * first.chars / chars)
    if decoded <= 0:
        return Speed(withheld=f"{tokens.output} output tokens, too few")
    if decoded / span * 1000 > FASTEST:
        return Speed(withheld=f"{decoded / span * 1000:,.0f} tokens/s cannot be true")
    return Speed(tokens_per_s=round(decoded / span * 1000, 3))


def end_to_end_speed(marks: Marks, tokens: Tokens) -> float | None:
    """Output tokens / E2E, tokens per second; None without a count of the provider's, or where it cannot be true."""
    whole = e2e_ms(marks)
    if tokens.source != "usage" or not tokens.output or not whole or whole <= 0:
        return None
    found = round(tokens.output / whole * 1000, 3)
    return found if found <= FASTEST else None


@dataclass(frozen=True, slots=True)
class Gaps:
    """Time between content events in milliseconds; the maximum is the longest stall."""

    p50_ms: float | None = None
    p95_ms: float | None = None
    max_ms: float | None = None


def gaps(contents: list[Content]) -> Gaps:
    """The gaps of one answer; nothing where there were fewer than two content events."""
    at = list(map(attrgetter("at"), contents))  # whole columns: a loop over 2,000 events would hold the engine up
    spans = sorted(map(sub, islice(at, 1, None), at))
    p50, p95 = quantile(spans, 0.5), quantile(spans, 0.95)
    if p50 is None or p95 is None:
        return Gaps()
    return Gaps(round(p50 / 1e6, 4), round(p95 / 1e6, 4), round(spans[-1] / 1e6, 4))
