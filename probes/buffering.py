"""Buffering: whether something between the server and here holds answers back and lets them go at once; pure."""

from collections.abc import Iterable
from typing import Final

from probes.outcome import Outcome
from probes.sample import Sample

FEWEST_TOKENS: Final = 16
FEWEST_RECORDS: Final = 3
LEAST_E2E_MS: Final = 500.0
"""Shorter answers than these, or faster ones, may come at once from a server that streams."""

LONGEST_GAP_MS: Final = 5.0
"""Between the reads of a flush; and how long a whole one may take without looking at how fast that is."""

FASTEST_DECODER: Final = 20_000.0
"""Tokens per second: no hardware decodes one answer as fast (`probes.plausible.FASTEST`: 17,000 is the record)."""

LEAST_SHARE: Final = 0.01
"""Of E2E. A flush over a slow line takes longer than 5 ms, but no model decodes an answer in a hundredth of the time
that its first token took."""

ANSWERS: Final = 10
"""An endpoint's newest answers, of which at least `MOST` must have come at once: one alone may have met a stall."""

MOST: Final = 8

CAUSE: Final = "something between the server and here holds the answer back: all of it came at once"
DETAIL: Final = f"buffered: {CAUSE}"


def came_at_once(sample: Sample) -> bool | None:
    """Whether a good answer came in one go though it took long; None where it is too short to tell, or not good.

    The reads of a fast model are close together too: so what counts is also that all of them together took next to
    no time, or that no hardware decodes so fast.
    """
    span, gap, e2e = _span_ms(sample), sample.gap_max_ms, sample.e2e_ms
    tokens, records = sample.output_tokens or 0, sample.chunks or 0
    if sample.outcome is not Outcome.OK or span is None or gap is None or e2e is None:
        return None
    if tokens < FEWEST_TOKENS or records < FEWEST_RECORDS or e2e < LEAST_E2E_MS:
        return None
    if gap > LONGEST_GAP_MS:
        return False
    return span <= LONGEST_GAP_MS or tokens / span * 1000 > FASTEST_DECODER or span < LEAST_SHARE * e2e


def is_buffered(sample: Sample, before: Iterable[Sample]) -> bool | None:
    """Whether a sample is to be marked ``buffered``, after the samples of its endpoint ``before`` it, oldest first.

    It is where it came at once, and so did, itself among them, at least `MOST` of the newest `ANSWERS` that can tell.
    None where its answer cannot tell.
    """
    own = came_at_once(sample)
    if not own:
        return own
    told = [found for one in before if (found := came_at_once(one)) is not None]
    return 1 + sum(told[-(ANSWERS - 1) :]) >= MOST


def _span_ms(sample: Sample) -> float | None:
    """From the first output to the last."""
    return None if sample.e2e_ms is None or sample.ttft_ms is None else sample.e2e_ms - sample.ttft_ms
