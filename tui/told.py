"""Told: what the last responses of an endpoint said of its rate limits and of who served, and what follows from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from probes.sample import Sample
from tui.limits import Level, Reading, levels
from tui.served import Change, Seen, changes

KEPT: Final = 30
"""So many of the last responses are remembered."""

CHANGES_KEPT: Final = 100


@dataclass(slots=True)
class Told:
    """``readings`` of rate limits and who was ``seen`` to serve, oldest first, and the ``changes`` of the latter.

    Live samples and the store's may come in any order, and twice.
    """

    readings: tuple[Reading, ...] = ()
    seen: tuple[Seen, ...] = ()
    changes: tuple[Change, ...] = ()
    _levels: tuple[Level, ...] | None = None

    @property
    def levels(self) -> tuple[Level, ...]:
        """The rate-limit buckets as last told, the tightest first; found when first asked for."""
        if self._levels is None:
            self._levels = levels(self.readings)
        return self._levels

    def hear(self, sample: Sample) -> None:
        """Take in a sample."""
        reading, seen = Reading.of(sample), Seen.of(sample)
        self.join(() if reading is None else (reading,), () if seen is None else (seen,))

    def join(self, readings: Iterable[Reading] = (), seen: Iterable[Seen] = (), moments: Iterable[Change] = ()) -> None:
        """Take in what was found before; changes among the remembered are found anew, those before them kept."""
        known = {one.at for one in self.readings} if readings else ()
        if new := [one for one in readings if one.at not in known]:
            self.readings = tuple(sorted((*self.readings, *new), key=attrgetter("at"))[-KEPT:])
            self._levels = None
        if not seen and not moments:
            return  # a live sample of an endpoint that does not say who serves: nearly all are
        before = {*self.changes, *moments}
        known = {one.at for one in self.seen}
        if heard := [one for one in seen if one.at not in known]:
            self.seen = tuple(sorted((*self.seen, *heard), key=attrgetter("at"))[-KEPT:])
        if heard or len(before) > len(self.changes):
            begin = self.seen[0].at if self.seen else None
            older = [one for one in before if begin is None or one.at <= begin]
            found = (*sorted(older, key=attrgetter("at", "word")), *changes(self.seen))[-CHANGES_KEPT:]
            if found != self.changes:  # the same value for as long as nothing is new: it is compared at every tick
                self.changes = found
