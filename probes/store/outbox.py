"""Outbox: a sink for a database at another machine: what it does not take waits on disk, and arrives once."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from probes.store.journal import Journal
from probes.store.problem import StoreProblem
from probes.store.sink import Entry, Sink


class Kept(StoreProblem):
    """The database took nothing, but the entries are safe on disk."""


class Outbox:
    """A `Sink` with a `Journal` before it; one thread uses it.

    Every batch goes with a mark, so one that was stored just as the connection broke is not stored again. A process
    that is killed in the first `probes.store.postgres.DEAD_AFTER_S` of an outage loses what came in them.
    """

    def __init__(self, sink: Sink, journal: Journal) -> None:
        self._sink = sink
        self._journal = journal
        self._marked = False

    @property
    def waiting(self) -> int:
        """How many samples wait on disk."""
        return self._journal.waiting

    @property
    def dropped(self) -> int:
        """How many samples did not fit there."""
        return self._journal.dropped

    def keep(self, entries: Sequence[Entry]) -> None:
        """Put entries on disk, to be stored later. Raises StoreProblem."""
        self._journal.keep(entries)

    def write(self, entries: Sequence[Entry], beat: dict[str, Any] | None) -> int:
        """As `Sink.write`; where something waits, the entries get in line and the oldest of the line are stored.

        Raises Kept where the entries are on disk now, StoreProblem where they are nowhere.
        """
        if self._journal.waiting:
            if entries:
                self.keep(entries)
            return self._deliver(beat)
        batch = self._journal.new() if entries else None
        self._marked |= batch is not None
        try:
            return self._sink.write(entries, beat, None if batch is None else batch.mark)
        except StoreProblem as problem:
            if batch is not None:
                self._journal.keep(entries, batch)
            raise Kept(problem.state, problem.detail, lasting=problem.lasting) from problem

    def tidy(self) -> bool:
        """As `Sink.tidy`."""
        return self._sink.tidy()

    def close(self) -> None:
        """As `Sink.close`; what waits stays on disk."""
        if not self.waiting and self._marked:
            with suppress(StoreProblem):  # a line too many in a small table
                self._sink.forget(self._journal.name)
        self._sink.close()

    def _deliver(self, beat: dict[str, Any] | None) -> int:
        try:
            if (waiting := self._journal.first()) is None:
                return self._sink.write((), beat)
            batch, entries = waiting
            stored = self._sink.write(entries, beat, batch.mark)
            self._journal.done(batch)
        except StoreProblem as problem:
            raise Kept(problem.state, problem.detail, lasting=problem.lasting) from problem
        return stored
