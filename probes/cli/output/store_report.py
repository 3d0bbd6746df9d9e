"""What a recorder prints of its store: that it takes no samples, that it takes them again, and the sum at the end."""

from pathlib import Path
from typing import Final

from probes.format import plural
from probes.store.problem import StoreState
from probes.store.status import StoreStatus

REPEAT_S: Final = 60.0
"""How often a problem that goes on is noted again."""

SETTLED_S: Final = 1.0
"""A store that takes samples has caught up when nothing has waited for longer: it commits within 100 ms."""


class StoreReport:
    """Turns the states of a store, one after another, into notes where something changed."""

    def __init__(self) -> None:
        self._problem: StoreState | None = None
        self._noted_at = 0.0
        self._waiting = 0
        self._notice = ""

    def update(self, store: StoreStatus, now_ms: int, now: float) -> str | None:
        """The note on a store at ``now_ms`` (since the epoch; ``now`` is monotonic, in seconds); None for none.

        A problem is noted at once and every `REPEAT_S`, its end when what waited is stored, a notice once.
        """
        if store.notice != self._notice:
            self._notice = store.notice
            return store.notice
        if store.state == "ok":
            if self._problem is None or store.waited_s(now_ms) > SETTLED_S:
                return None
            self._problem = None
            are = "is" if self._waiting == 1 else "are"
            after = f"; {self._waiting:,} that waited {are} stored" if self._waiting else ""
            return f"the store takes samples again{after}"
        if store.state == "opening":
            return None
        self._waiting = store.waiting
        if store.state == self._problem and now - self._noted_at < REPEAT_S:
            return None
        self._problem, self._noted_at = store.state, now
        return f"the store takes no samples: {store.detail}; {_count(store.waiting, 'wait')}, {_lost(store)}"


def unstored(store: StoreStatus, folder: Path) -> str | None:
    """What a recorder that has ended did not store; None where all was. Samples that wait are in ``folder``."""
    if not store.waiting and not store.dropped:
        return None
    why = "" if store.state == "ok" or not store.detail else f"{store.detail}: "
    waits = _count(store.waiting, "still wait")
    if store.waiting:
        are = "is" if store.waiting == 1 else "are"
        waits = f"{waits} in {folder} and {are} delivered by the next recorder"
    return f"{why}{waits}; {_lost(store)}"


def _count(samples: int, verb: str) -> str:
    """A number of samples and a verb, in words."""
    if not samples:
        return f"no sample {verb}s"
    return plural(samples, f"sample {verb}s", f"samples {verb}")


def _lost(store: StoreStatus) -> str:
    return "none is lost" if not store.dropped else f"{store.dropped:,} {'is' if store.dropped == 1 else 'are'} lost"
