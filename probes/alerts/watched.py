"""An endpoint as incidents, silences and routes need to know it, as one frozen value."""

from dataclasses import dataclass

from probes.endpoint import Lane


@dataclass(frozen=True, slots=True)
class WatchedEndpoint:
    """An endpoint as incidents need to know it; ``interval`` is in seconds, ``lanes`` are those it is probed on.

    ``group`` is "" where it names none: then it is in that of its model's name.
    ``stopped`` says why nothing that befalls it makes an incident now (paused, switched off), None where it does.
    """

    name: str
    provider: str
    model: str
    group: str
    interval: float
    lanes: tuple[Lane, ...] = ("warm", "cold")
    stopped: str | None = None
