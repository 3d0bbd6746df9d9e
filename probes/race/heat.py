"""A heat, one repetition of a race: all lanes start together, and each ends in a result."""

from dataclasses import dataclass

from probes.race.recording import Recording
from probes.sample import Sample


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What one lane brought in one heat.

    ``place`` is its place at the finish, 1 the first; None where it did not finish right (its sample's outcome says
    why). ``text`` is the answer, plain; reasoning is not in it.
    """

    lane: str
    sample: Sample
    recording: Recording
    text: str
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Heat:
    """One repetition of a race. ``number`` counts from 1, ``started_at`` is in ms since the epoch.

    ``lanes`` are in the request's order, ``order`` is the order in which the requests were written; ``skew_ms`` is from
    the first to the last of them, None where fewer than two went out. ``nonce`` stood at the front of every lane's
    prompt.
    """

    number: int
    started_at: int
    order: tuple[str, ...]
    skew_ms: float | None
    nonce: str
    lanes: tuple[LaneResult, ...]
