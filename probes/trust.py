"""Trust: how far a sample's times can be off by the engine's own doing, and whether that is little enough; pure."""

from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, eq
from typing import Final

from probes.marks import Marks

MOST_MS: Final = 5.0
MOST_OF_SPEED: Final = 0.02
"""Above either of them a sample is not trusted: the bound on an event's time, ms, and on tokens/s, as a share."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What the stamps themselves say of their error.

    ``error_bound_ms`` is the most that any output event, or ``sent``, can have happened before its stamp; it holds
    what this process can know: how long it was deaf. ``speed_error`` is what that can do to tokens/s, as a share of
    1. ``shared`` counts the output events whose stamp is also that of the one before. None is not known.
    """

    error_bound_ms: float | None = None
    speed_error: float | None = None
    shared: int | None = None

    @property
    def trusted(self) -> bool | None:
        """Whether the times can be relied on; None where nothing is known of them."""
        if self.error_bound_ms is None:
            return None
        return self.error_bound_ms <= MOST_MS and (self.speed_error or 0.0) <= MOST_OF_SPEED


def trust(marks: Marks) -> Trust:
    """The trust that one probe's marks deserve; nothing is known where there was no output.

    tokens/s is tokens over the time from the first output to the last, so the doubts of both, over that time, bound
    its error.
    """
    contents = marks.contents
    if not contents or marks.sent is None:
        return Trust()
    at = list(map(attrgetter("at"), contents))  # whole columns, as in `probes.timing`
    shared = sum(map(eq, islice(at, 1, None), at))
    doubts = list(map(attrgetter("doubt"), contents))
    if None in doubts:
        return Trust(shared=shared)
    span = at[-1] - at[0]
    return Trust(
        error_bound_ms=round(max(*doubts, marks.sent_doubt or 0) / 1e6, 4),
        speed_error=round((doubts[0] + doubts[-1]) / span, 6) if span > 0 else None,
        shared=shared,
    )
