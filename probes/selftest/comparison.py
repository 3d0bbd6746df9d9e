"""Comparison: what the engine saw against the truth: errors of every event and of every figure; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from probes.outcome import Outcome
from probes.selftest.sighting import Sighting, cpu_us_per_event
from probes.selftest.truth import Truth
from probes.stats import quantile

BOUND_SLACK_NS: Final = 100_000
"""What the truth itself may be early by: it is noted just before the write, and its process can be held up there."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Absolute errors of many measurements; the unit is in the name of what holds it."""

    p50: float
    p95: float
    p99: float
    max: float

    @classmethod
    def of(cls, errors: Iterable[float]) -> "Spread | None":
        """The spread of errors; None of none."""
        ascending = sorted(abs(one) for one in errors)
        found = [quantile(ascending, q) for q in (0.5, 0.95, 0.99, 1.0)]
        return cls(*(round(one, 6) for one in found if one is not None)) if ascending else None


@dataclass(frozen=True, slots=True)
class Errors:
    """How wrong the engine was, over all answers compared.

    ``ttft_ms`` holds both ends of TTFT: the first event's stamp against its write, and what ``sent`` is provably late
    by (it can not be after the server has read the request). ``gap_ms`` is of the time between two events,
    ``tokens_per_s_percent`` of each sample's own tokens/s. ``bound_held`` is the share of events whose error was within
    the bound that their stamps gave; ``untrusted`` counts the probes that inftop itself would not have trusted, which
    are left out of the errors, as they are of its percentiles.
    """

    probes: int
    events: int
    untrusted: int
    ttft_ms: Spread | None
    gap_ms: Spread | None
    tokens_per_s_percent: Spread | None
    cpu_us_per_event: float | None
    bound_held: float | None
    kernel: bool


def compare(sightings: Sequence[Sighting], truths: Iterable[Truth]) -> Errors:
    """The errors of good probes against the answers they read."""
    by_model: dict[str, list[Truth]] = {}
    for one in truths:
        by_model.setdefault(one.model, []).append(one)
    good = [one for one in sightings if one.outcome == Outcome.OK.value and one.at]
    pairs = [(one, truth) for one in good if (truth := _answer(one, by_model.get(one.model, []))) is not None]
    trusted = [(seen, truth) for seen, truth in pairs if seen.trusted is not False]
    held, events = _held(pairs)
    return Errors(
        probes=len(pairs),
        events=events,
        untrusted=len(pairs) - len(trusted),
        ttft_ms=Spread.of(_ttft_ms(seen, truth) for seen, truth in trusted),
        gap_ms=Spread.of(error for seen, truth in trusted for error in _gaps_ms(seen, truth)),
        tokens_per_s_percent=Spread.of(
            error for seen, truth in trusted if (error := _speed_percent(seen, truth)) is not None
        ),
        cpu_us_per_event=cpu_us_per_event(good) if len(good) > 1 else None,
        bound_held=held / events if events else None,
        kernel=bool(good) and all(one.clock == "kernel" for one in good),
    )


def _answer(seen: Sighting, candidates: Sequence[Truth]) -> Truth | None:
    """The answer that a probe read: the last one of its model that had begun when its first event was seen."""
    begun = [one for one in candidates if one.at and one.at[0] <= seen.at[0]]
    truth = max(begun, key=lambda one: one.at[0], default=None)
    return truth if truth is not None and len(truth.at) == len(seen.at) else None


def _ttft_ms(seen: Sighting, truth: Truth) -> float:
    late = max(0, (seen.sent or 0) - truth.read_ns)
    return (abs(seen.at[0] - truth.at[0]) + late) / 1e6


def _gaps_ms(seen: Sighting, truth: Truth) -> Iterable[float]:
    for (before, after), (was, then) in zip(pairwise(seen.at), pairwise(truth.at), strict=True):
        yield ((after - before) - (then - was)) / 1e6


def _speed_percent(seen: Sighting, truth: Truth) -> float | None:
    """Against the tokens after the first event over the time from its write to the last one's."""
    span = (truth.at[-1] - truth.at[0]) / 1e9
    if seen.tokens_per_s is None or span <= 0:
        return None
    true = (truth.tokens - truth.tokens / len(truth.at)) / span
    return (seen.tokens_per_s / true - 1) * 100


def _held(pairs: Iterable[tuple[Sighting, Truth]]) -> tuple[int, int]:
    """How many events were within their bound, of how many."""
    held = events = 0
    for seen, truth in pairs:
        for at, doubt, was in zip(seen.at, seen.doubt, truth.at, strict=True):
            events += 1
            held += at - was <= (doubt or 0) + BOUND_SLACK_NS
    return held, events
