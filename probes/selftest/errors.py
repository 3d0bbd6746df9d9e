"""Errors: how wrong the engine was under one load."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from probes.stats import quantile

RESOLUTION_MS: Final = 0.01
"""Half of what a write takes: the truth itself is known no better, so no smaller error is ever told."""


def milliseconds(error: float) -> str:
    """An error of a time for people: ``0.46``, ``<0.01``."""
    return f"<{RESOLUTION_MS}" if error < RESOLUTION_MS else f"{error:.2f}"


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
    the bound that their stamps gave. ``failed`` counts the probes that were not ok, ``untrusted`` those that inftop
    itself would not have trusted, which are left out of the errors, as they are of its percentiles. ``reader`` is who
    read the sockets, in words; None where it is not known.
    """

    probes: int
    failed: int
    events: int
    untrusted: int
    ttft_ms: Spread | None
    gap_ms: Spread | None
    tokens_per_s_percent: Spread | None
    cpu_us_per_event: float | None
    bound_held: float | None
    kernel: bool
    reader: str | None = None

    @property
    def words(self) -> str:
        """The errors at p50 and p99 in a sentence."""
        parts = [
            f"{name} ± {shown(spread.p50)} {unit} at p50, {shown(spread.p99)} at p99"
            for name, unit, spread, shown in (
                ("TTFT", "ms", self.ttft_ms, milliseconds),
                ("tokens/s", "%", self.tokens_per_s_percent, "{:.2f}".format),
                ("gaps", "ms", self.gap_ms, milliseconds),
            )
            if spread is not None
        ]
        left = f"; {self.untrusted} left out as untrusted" if self.untrusted else ""
        return f"{'; '.join(parts) or 'nothing could be compared'} ({self.probes:,} probes{left})."
