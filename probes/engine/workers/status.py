"""What is known of one worker now, for the metrics; a frozen value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """A worker, counted from 1. ``replaced`` is how often the process in its place was lost.

    ``lag_ms`` is how late its loop was at worst in the last ten seconds; None is not known.
    """

    number: int
    endpoints: int
    lag_ms: float | None
    replaced: int
