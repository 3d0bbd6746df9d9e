"""When an endpoint is due: on a grid that neither drifts nor accumulates its jitter.

APScheduler keeps the time; the due times are ours, since its own jitter moves every later tick too (60 ticks of one
minute ended 9 min 43 s late).
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Final

from apscheduler.triggers.base import BaseTrigger

JITTER_SHARE: Final = 0.05
"""The largest jitter as a share of the interval, to either side; enough to keep off other people's round minutes."""

JITTER_CAP_S: Final = 2.0
"""The largest jitter in seconds, to either side."""

MOST_MISSED: Final = 1_000
"""Missed due times that are reported at once, at most: days of them, of a recorder that was stopped, are no news."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """The due times of one endpoint: ``phase + k × interval + jitter(k)``, seconds since the epoch.

    The jitter of tick k depends on the name and on k alone: it never moves another tick, and a restarted recorder
    keeps to the same grid.
    """

    name: str
    interval: float
    phase: float = 0.0

    def due(self, k: int) -> float:
        """When tick k is due, in whole milliseconds.

        A datetime holds microseconds: a due time between two of them would come back from APScheduler a little
        earlier than it was, and be the next due time after itself.
        """
        return round(self.phase + k * self.interval + self._jitter(k), 3)

    def next_after(self, instant: float) -> float:
        """The first due time strictly after an instant, both in seconds since the epoch."""
        k = math.floor((instant - self.phase) / self.interval) - 1
        while (due := self.due(k)) <= instant:
            k += 1
        return due

    def between(self, first: float, end: float) -> Iterator[float]:
        """The due times from ``first`` on and before ``end`` (s since the epoch), at most the oldest `MOST_MISSED`."""
        due = first - 0.001  # due times are whole milliseconds
        for _ in range(MOST_MISSED):
            if (due := self.next_after(due)) >= end:
                return
            yield due

    def at_share(self, share: float | None) -> "Cadence":
        """The cadence whose phase is such a share of its interval; as it is for None."""
        return self if share is None else replace(self, phase=share * self.interval)

    def _jitter(self, k: int) -> float:
        """The jitter of tick k in seconds, negative or positive."""
        digest = hashlib.blake2b(f"{self.name}\n{k}".encode(), digest_size=8).digest()
        share = int.from_bytes(digest) / 2**63 - 1
        return share * min(self.interval * JITTER_SHARE, JITTER_CAP_S)


def free_shares(taken: Iterable[float]) -> Iterator[float]:
    """Where in an interval, as shares of it, endpoints that join others one by one disturb them least; without end.

    Each is the middle of the widest gap between those that are ``taken`` by then; the first is 0 where none is.
    """
    shares = sorted({share % 1.0 for share in taken})
    if not shares:
        shares = [0.0]
        yield 0.0
    gaps = [_gap(before, after - before) for before, after in pairwise([*shares, shares[0] + 1.0])]
    heapify(gaps)
    while True:
        _, start, width = heappop(gaps)
        middle = (start + width / 2) % 1.0
        heappush(gaps, _gap(start, width / 2))
        heappush(gaps, _gap(middle, width / 2))
        yield middle


def _gap(start: float, width: float) -> tuple[float, float, float]:
    """A gap as it is sorted: the widest first, of equal ones the first; its start and its width."""
    return -round(width, 9), start, width


def spread(intervals: Sequence[tuple[str, float]]) -> list[Cadence]:
    """Cadences whose phases spread the endpoints over their intervals, so that they do not all start together."""
    return [
        Cadence(name, interval, interval * index / len(intervals)) for index, (name, interval) in enumerate(intervals)
    ]


class CadenceTrigger(BaseTrigger):  # type: ignore[misc]  # APScheduler 3 has no types
    """A cadence as APScheduler's trigger; ``fired`` is the due time that fired last, ``upcoming`` the next.

    After a tick off the grid, one that was moved or that came `ahead` of it, the grid takes over from the first due
    time at least half an interval later.
    """

    def __init__(self, cadence: Cadence) -> None:
        self.cadence = cadence
        self.fired: datetime | None = None
        self.upcoming: datetime | None = None
        self._off_grid: float | None = None

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """The next due time after the last one and after now: those that were `missed` are not caught up."""
        self.fired = previous_fire_time
        after = now.timestamp()
        if previous_fire_time is not None:
            after = max(after, previous_fire_time.timestamp())
        if self._off_grid is not None:
            after = max(after, self._off_grid + self.cadence.interval / 2)
        self.upcoming = datetime.fromtimestamp(self.cadence.next_after(after), UTC)
        return self.upcoming

    def follow(self, before: "CadenceTrigger") -> None:
        """Take the place of a trigger with another interval: no due time sooner than half of ours after its last."""
        self.fired = before.fired
        if before.fired is not None:
            self._off_grid = before.fired.timestamp()

    def ahead(self, now: datetime) -> datetime:
        """Fire now, ahead of the grid. Returns the next due time."""
        self._off_grid = now.timestamp()
        return self.get_next_fire_time(now, now)

    def missed(self) -> Iterator[float]:
        """The due times after the one that fired last that were over when it did, at most the oldest `MOST_MISSED`."""
        if self.fired is None or self.upcoming is None:
            return
        due, upcoming = self.fired.timestamp(), self.upcoming.timestamp()
        if self._off_grid is not None:
            due = max(due, self._off_grid + self.cadence.interval / 2)
        for _ in range(MOST_MISSED):
            if (due := self.cadence.next_after(due)) >= upcoming:
                return
            yield due

    def move(self, by: float) -> None:
        """Follow a clock set by so many seconds: the next due time is the same moment, later ones are on the grid."""
        if self.upcoming is not None:
            self._off_grid = self.upcoming.timestamp() + by
            self.upcoming = datetime.fromtimestamp(self._off_grid, UTC)
        if self.fired is not None:
            self.fired += timedelta(seconds=by)

    def pass_over(self, now: float) -> None:
        """Skip a next due time that is over to the first one after ``now`` (seconds since the epoch)."""
        if self.upcoming is not None and self.upcoming.timestamp() < now:
            self.upcoming = datetime.fromtimestamp(self.cadence.next_after(now), UTC)
