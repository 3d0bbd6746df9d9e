"""Measured: which values of a sample count in statistics; the rule that rollups, rankings and races share; pure."""

from typing import Final

from probes.outcome import Outcome
from probes.sample import Sample

HELD_BACK: Final = frozenset(
    {"ttft_ms", "ttfa_ms", "tokens_per_s", "tpot_ms", "gap_p50_ms", "gap_p95_ms", "gap_max_ms"}
)
"""What says nothing of the model where something on the way held its answer back (``buffered``)."""


def is_measured(sample: Sample) -> bool:
    """Whether a sample's times count at all: it ended ok, and this machine did not bend them."""
    return sample.outcome is Outcome.OK and sample.trusted is not False


def measured(sample: Sample, metric: str) -> float | None:
    """A sample's value of a metric; None where it has none, or one that is not to be mixed with others."""
    if not is_measured(sample) or (sample.buffered and metric in HELD_BACK):
        return None
    value: float | None = getattr(sample, metric)
    return value
