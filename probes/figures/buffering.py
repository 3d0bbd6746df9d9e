"""Whether something between the server and here holds answers back and lets them go at once (buffering); pure."""

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
"""Tokens per second: no hardware decodes one answer as fast (17,000 is the record): what comes faster was held back."""

FEWEST_CHARS_PER_TOKEN: Final = 2
"""At least, of most text: tokens that are in the count and not in the text (hidden reasoning) came at no pace."""

LEAST_SHARE: Final = 0.05
"""Of E2E. A flush over a slow line takes longer than 5 ms, but not much of the time that the first token took; and its
packets are full, so that most events share the stamp of the one before. Those of a fast model come one by one."""

ROUND_TRIPS: Final = 4
"""A flush over a far line comes in so many windows at most, a round trip apart, as a server begins slowly (RFC 6928:
10 packets, then twice as many): 200 kB."""

ANSWERS: Final = 10
"""An endpoint's newest answers, of which at least `MOST` must have come at once: one alone may have met a stall."""

MOST: Final = 8

CAUSE: Final = "something between the server and here holds the answer back: all of it came at once"
DETAIL: Final = f"buffered: {CAUSE}"


def came_at_once(sample: Sample) -> bool | None:
    """Whether a good answer came in one go though it took long; None where it is too short to tell, or not good.

    The reads of a fast model are close together too: so what counts is also that all of them together took next to
    no time, that no hardware decodes so fast, or that most events share their packets over a line that is slow or far.
    """
    span, gap, e2e = _span_ms(sample), sample.gap_max_ms, sample.e2e_ms
    tokens, records = sample.output_tokens or 0, sample.chunks or 0
    if sample.outcome is not Outcome.OK or span is None or gap is None or e2e is None:
        return None
    if tokens < FEWEST_TOKENS or records < FEWEST_RECORDS or e2e < LEAST_E2E_MS:
        return None
    in_full_packets = 2 * (sample.shared_stamps or 0) >= records
    if gap > LONGEST_GAP_MS:
        return in_full_packets and _in_windows(sample, span, gap)
    if span <= LONGEST_GAP_MS or _is_impossible(sample):
        return True
    return in_full_packets and span < LEAST_SHARE * e2e


def _is_impossible(sample: Sample) -> bool:
    """Whether no hardware decodes the tokens that were shown as fast as they came."""
    span, tokens = _span_ms(sample), sample.output_tokens or 0
    shown = min(tokens, (sample.output_chars or tokens * FEWEST_CHARS_PER_TOKEN) / FEWEST_CHARS_PER_TOKEN)
    return span is not None and shown * 1000 > FASTEST_DECODER * span


def _in_windows(sample: Sample, span: float, gap: float) -> bool:
    """Whether an answer that took so long, with such a gap, came as fast as a far line takes in what lies ready."""
    trip, usual = sample.round_trip_ms, sample.gap_p95_ms
    if trip is None or usual is None or usual > LONGEST_GAP_MS:
        return False
    return gap < 1.5 * trip and span < ROUND_TRIPS * trip


def is_buffered(sample: Sample, before: Iterable[Sample]) -> bool | None:
    """Whether a sample is to be marked ``buffered``, after the samples of its endpoint ``before`` it, oldest first.

    It is where it came at once, and so did, itself among them, at least `MOST` of the newest `ANSWERS` that can tell.
    Of fewer than these the same share is enough where no hardware could have decoded it as it came: then one answer
    alone shows it. None where its answer cannot tell.
    """
    own = came_at_once(sample)
    if not own:
        return own
    earlier = [told for one in before if (told := came_at_once(one)) is not None][-(ANSWERS - 1) :]
    needed = MOST * (1 + len(earlier)) / ANSWERS if _is_impossible(sample) else MOST
    return 1 + sum(earlier) >= needed


def _span_ms(sample: Sample) -> float | None:
    """From the first output to the last."""
    return None if sample.e2e_ms is None or sample.ttft_ms is None else sample.e2e_ms - sample.ttft_ms
