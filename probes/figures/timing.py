"""The times of a sample, its gaps, token counts and end-to-end speed, from a probe's timeline and usage; pure.

The decode speed (tokens/s) has rules of its own: `probes.figures.decode_speed`.
"""

import math
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, sub
from typing import Literal

from probes.events import Kind, Usage
from probes.figures.plausible import FASTEST
from probes.figures.timeline import ContentEvent, Timeline
from probes.figures.token_bounds import CHARS_PER_TOKEN
from probes.sockets.connection_timing import Step
from probes.stats.quantiles import quantile


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts of one answer. ``output`` includes ``reasoning``; ``refused``: the provider's is not believed."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None
    source: Literal["usage", "estimate"] | None = None
    refused: bool = False


def count_tokens(
    usage: Usage | None, output_chars: int, chars_per_token: float = CHARS_PER_TOKEN, *, refused: bool = False
) -> Tokens:
    """The provider's own counts; else, where there was output, an estimate from its characters, marked as one.

    ``refused``: the provider named a count that cannot be true (`probes.figures.plausible`), so there is an estimate
    in its place, which may be 0.
    """
    if usage is not None and usage.output is not None:
        return Tokens(usage.input, usage.cached, usage.output, usage.reasoning, "usage")
    partial = usage or Usage()
    if not output_chars and not refused:
        return Tokens(partial.input, partial.cached)
    estimate = math.ceil(output_chars / chars_per_token)
    return Tokens(partial.input, partial.cached, estimate, partial.reasoning, "estimate", refused)


def span_ms(start: int | None, stop: int | None) -> float | None:
    """From one instant to another (monotonic ns) in milliseconds; None where either is not known."""
    return None if start is None or stop is None else round((stop - start) / 1e6, 4)


def step_ms(step: Step | None) -> float | None:
    """How long a step of a connection's set-up took, milliseconds; None where it was not taken."""
    return None if step is None else span_ms(step.start, step.stop)


def ttft_ms(timeline: Timeline) -> float | None:
    """Sent → the first event with non-empty output of any kind."""
    return span_ms(timeline.sent, timeline.contents[0].at) if timeline.contents else None


def ttfa_ms(timeline: Timeline) -> float | None:
    """Sent → the first non-empty answer text."""
    return span_ms(timeline.sent, next((one.at for one in timeline.contents if one.kind is Kind.ANSWER), None))


def e2e_ms(timeline: Timeline) -> float | None:
    """Sent → the last output event."""
    return span_ms(timeline.sent, timeline.contents[-1].at) if timeline.contents else None


def end_to_end_speed(timeline: Timeline, tokens: Tokens) -> float | None:
    """Output tokens / E2E, tokens per second; None without a count of the provider's, or where it cannot be true.

    Where the provider's count is not believed it is that of the estimate in its place.
    """
    whole = e2e_ms(timeline)
    if not (tokens.source == "usage" or tokens.refused) or not tokens.output or whole is None or whole <= 0:
        return None
    found = round(tokens.output / whole * 1000, 3)
    return found if found <= FASTEST else None


@dataclass(frozen=True, slots=True)
class Gaps:
    """Time between content events in milliseconds; the maximum is the longest stall."""

    p50_ms: float | None = None
    p95_ms: float | None = None
    max_ms: float | None = None


def gaps(contents: list[ContentEvent]) -> Gaps:
    """The gaps of one answer; nothing where there were fewer than two content events."""
    at = list(map(attrgetter("at"), contents))  # whole columns: a loop over 2,000 events would hold the engine up
    spans = sorted(map(sub, islice(at, 1, None), at))
    p50, p95 = quantile(spans, 0.5), quantile(spans, 0.95)
    if p50 is None or p95 is None:
        return Gaps()
    return Gaps(round(p50 / 1e6, 4), round(p95 / 1e6, 4), round(spans[-1] / 1e6, 4))
