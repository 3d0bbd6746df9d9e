"""How far a sample's times can be off by what engine and hypervisor did, and whether that is little enough; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter, eq

from probes.figures.timeline import Timeline
from probes.sample import TRUSTED_MS, TRUSTED_SPEED
from probes.sockets.connection_timing import ConnectionTiming


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """What the stamps of one probe say of their own error; None is not known.

    ``error_bound_ms`` is the most that any output event, or ``sent``, can have happened before its stamp. It covers
    what this process can know: how long it did not read its sockets, and how long the hypervisor may have stopped it.
    ``speed_error`` is what that can do to tokens/s, as a share of 1. ``shared`` counts the output events that have the
    same stamp as the one before.
    """

    error_bound_ms: float | None = None
    speed_error: float | None = None
    shared: int | None = None

    @property
    def trusted(self) -> bool | None:
        """Whether the times can be relied on; None where nothing is known of them."""
        if self.error_bound_ms is None:
            return None
        return self.error_bound_ms <= TRUSTED_MS and (self.speed_error or 0.0) <= TRUSTED_SPEED


def error_bound(timeline: Timeline, stolen_ms: float | None = None) -> ErrorBound:
    """Bound the error of one probe's times; nothing is known where there was no output.

    ``stolen_ms`` is the processor time that the hypervisor took from this machine meanwhile. tokens/s is tokens over
    the time from the first output to the last, so the uncertainties of both, over that time, bound its error.
    """
    if not timeline.contents or timeline.sent is None:
        return ErrorBound()
    at = list(map(attrgetter("at"), timeline.contents))  # by columns: a loop over events would be slow
    shared = sum(map(eq, islice(at, 1, None), at))
    found = event_uncertainties_ns(timeline, stolen_ms)
    if found is None:
        return ErrorBound(shared=shared)
    span = at[-1] - at[0]
    return ErrorBound(
        error_bound_ms=round(max(*found, timeline.sent_uncertainty_ns or 0) / 1e6, 4),
        speed_error=round((found[0] + found[-1]) / span, 6) if span > 0 else None,
        shared=shared,
    )


def setup_bound_ms(setup: ConnectionTiming) -> float | None:
    """How far the least certain step of a connection's set-up can be off, ms; None where one step's is not known."""
    known = [one.uncertainty_ns for one in setup.steps if one.uncertainty_ns is not None]
    return round(max(known) / 1e6, 4) if len(known) == len(setup.steps) else None


def event_uncertainties_ns(timeline: Timeline, stolen_ms: float | None = None) -> list[int] | None:
    """How much earlier than its stamp each output event may have come, ns; None where one event's is not known."""
    known = [one.uncertainty_ns for one in timeline.contents if one.uncertainty_ns is not None]
    if len(known) < len(timeline.contents):
        return None
    if not stolen_ms or timeline.sent is None:
        return known
    at = list(map(attrgetter("at"), timeline.contents))
    return list(map(max, known, _steal_delays(at, timeline.sent, round(stolen_ms * 1e6))))


def _steal_delays(at: Sequence[int], sent: int, stolen: int) -> Iterator[int]:
    """How much earlier than its stamp each event may have come because the processor was taken away; ns.

    Segments that arrive while the process cannot run are read together and share the newest stamp. So of the events
    with one stamp all but the last are uncertain. They came after the stamp before, within what was stolen; and, since
    the server kept its pace, within twice the time that so many events took on average (2 × mean gap × their number).
    """
    gap_bound = 2 * (at[-1] - at[0]) / max(len(at) - 1, 1)
    before = sent
    for stamp, alike in groupby(at):
        count = sum(1 for _ in alike)
        longest = min(stolen, stamp - before)
        for behind in range(count - 1, 0, -1):
            yield min(longest, round(behind * gap_bound)) if gap_bound else longest
        yield 0
        before = stamp
