"""How far a sample's times can be off by what engine and hypervisor did, and whether that is little enough; pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter, eq

from probes.events import Kind
from probes.figures.timeline import Theft, Timeline
from probes.sample import TRUSTED_MS, TRUSTED_SPEED
from probes.sockets.connection_timing import ConnectionTiming


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """What the stamps of one probe say of their own error; None is not known.

    ``error_bound_ms`` is the most that any output event, the response's head or ``sent`` can have happened before its
    stamp. It covers what this process can know: how long it did not read its sockets, and how long the hypervisor may
    have held up its reading, or the kernel's stamping.
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


def error_bound(timeline: Timeline) -> ErrorBound:
    """Bound the error of one probe's times; nothing is known where there was no output.

    tokens/s is tokens over the time from the first output to the last, so the uncertainties of both, over that time,
    bound its error.
    """
    if not timeline.contents or timeline.sent is None:
        return ErrorBound()
    at = list(map(attrgetter("at"), timeline.contents))  # by columns: a loop over events would be slow
    shared = sum(map(eq, islice(at, 1, None), at))
    found = event_uncertainties_ns(timeline)
    if found is None:
        return ErrorBound(shared=shared)
    span = at[-1] - at[0]
    return ErrorBound(
        error_bound_ms=round(max(*found, timeline.sent_uncertainty_ns or 0, _head_uncertainty_ns(timeline)) / 1e6, 4),
        speed_error=round((found[0] + found[-1]) / span, 6) if span > 0 else None,
        shared=shared,
    )


def setup_bound_ms(setup: ConnectionTiming, thefts: Sequence[Theft] = ()) -> float | None:
    """How far the least certain step of a connection's set-up can be off, ms; None where one step's is not known."""
    known = [
        max(one.uncertainty_ns, min(_stolen_ns(thefts, one.stop), one.stop - one.start))
        for one in setup.steps
        if one.uncertainty_ns is not None
    ]
    return round(max(known) / 1e6, 4) if len(known) == len(setup.steps) else None


def event_uncertainties_ns(timeline: Timeline) -> list[int] | None:
    """How much earlier than its stamp each output event may have come, ns; None where one event's is not known."""
    known = [one.uncertainty_ns for one in timeline.contents if one.uncertainty_ns is not None]
    if len(known) < len(timeline.contents):
        return None
    if not timeline.thefts or timeline.sent is None:
        return known
    return list(map(max, known, _held_up_ns(timeline, timeline.sent)))


def _head_uncertainty_ns(timeline: Timeline) -> int:
    """How much earlier than its stamp the response's head may have come, ns; 0 where nothing is known of it."""
    if timeline.headers is None or timeline.sent is None:
        return 0
    stolen = min(_stolen_ns(timeline.thefts, timeline.headers), timeline.headers - timeline.sent)
    return max(timeline.headers_uncertainty_ns or 0, stolen)


def _stolen_ns(thefts: Iterable[Theft], stamp: int) -> int:
    """By how much what has this stamp (monotonic ns) may have been held up by thefts of processor time, ns."""
    return sum(one.taken for one in thefts if one.since <= stamp <= one.until)


def _held_up_ns(timeline: Timeline, sent: int) -> Iterator[int]:
    """How much earlier than its stamp each output event may have come because a processor was taken away, ns.

    That holds up whoever reads: what comes meanwhile lies together and has the newest stamp. And it holds up the kernel
    on the processor that takes in packets: what it then stamps late is alone with its stamp. Nobody can tell that by
    the stamps, so the events that a figure is made of (the first output, the first answer, the last output) are each
    uncertain by all that was stolen around them.

    Of the others those are that had something behind them in the same read. They came after the stamp before, within
    what was stolen; and, since the server kept its pace, within twice the time that so many events took on average
    (2 × mean gap × their number).
    """
    contents = timeline.contents
    at = list(map(attrgetter("at"), contents))  # by columns: a loop over events would be slow
    marks = {0, next((place for place, one in enumerate(contents) if one.kind is Kind.ANSWER), 0), len(at) - 1}
    gap_bound = 2 * (at[-1] - at[0]) / max(len(at) - 1, 1)
    before, place = sent, 0
    for stamp, alike in groupby(at):
        count, stolen = sum(1 for _ in alike), _stolen_ns(timeline.thefts, stamp)
        longest = min(stolen, stamp - before)
        for behind in range(count - 1, -1, -1):
            together = max(behind, place in timeline.followed)
            if place in marks:
                yield max(0, min(stolen, stamp - sent))
            else:
                yield min(longest, round(together * gap_bound)) if gap_bound or not together else longest
            place += 1
        before = stamp
