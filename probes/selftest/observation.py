"""Sighting: what the engine saw of one answer, to be compared with the truth."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from probes.figures.error_bound import event_uncertainties_ns
from probes.measure.probe import ProbeResult


@dataclass(frozen=True, slots=True)
class Observation:
    """One probe's marks (monotonic ns) and the sample's own figures; ``at`` and ``doubt`` one for each output event.

    ``cpu_s`` is the CPU time of the engine's process when the probe was over, ``reader`` who read its sockets.
    """

    model: str
    outcome: str
    connection: str
    tls: bool
    clock: str | None
    sent: int | None
    at: tuple[int, ...]
    doubt: tuple[int | None, ...]
    tokens_per_s: float | None
    trusted: bool | None
    cpu_s: float
    reader: str | None = None

    @classmethod
    def of(cls, probed: ProbeResult, *, tls: bool, reader: str | None = None) -> "Observation":
        """What a probe that has just ended saw."""
        sample, timeline = probed.sample, probed.timeline
        return cls(
            model=sample.model,
            outcome=sample.outcome.value,
            connection=sample.connection or "",
            tls=tls,
            clock=sample.clock,
            sent=timeline.sent,
            at=tuple(one.at for one in timeline.contents),
            doubt=tuple(event_uncertainties_ns(timeline, sample.cpu_steal_ms) or [None] * len(timeline.contents)),
            tokens_per_s=sample.tokens_per_s,
            trusted=sample.trusted,
            cpu_s=time.process_time(),
            reader=reader,
        )

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Observation":
        """The sighting of a record made of one."""
        return cls(**{**values, "at": tuple(values["at"]), "doubt": tuple(values["doubt"])})


def cpu_us_per_event(sightings: Iterable[Observation]) -> float | None:
    """The engine's CPU time for each output event, microseconds, everything between two probes included."""
    first, *rest = sorted(sightings, key=lambda one: one.cpu_s)
    events = sum(len(one.at) for one in rest)
    return (rest[-1].cpu_s - first.cpu_s) / events * 1e6 if events else None
