"""StoreReport: what a recorder says of a store that takes no samples, of one that takes them again, and at the end."""

from pathlib import Path
from typing import Final

from probes.store.status import StoreState, StoreStatus

REPEAT_S: Final = 60.0
"""A trouble that goes on is said again so often."""

SETTLED_S: Final = 1.0
"""A store that takes samples has caught up when nothing has waited for longer: it commits within 100 ms."""


class StoreReport:
    """Turns how a store is, time and again, into words where there are any to be said."""

    def __init__(self) -> None:
        self._trouble: StoreState | None = None
        self._said_at = 0.0
        self._waiting = 0
        self._notice = ""

    def hear(self, store: StoreStatus, now_ms: int, now: float) -> str | None:
        """The words for a store that is so at ``now_ms`` since the epoch, ``now`` on a monotonic clock in seconds.

        A trouble is said at once and every `REPEAT_S`, its end when what waited is stored, a notice once.
        """
        if store.notice != self._notice:
            self._notice = store.notice
            return store.notice
        if store.state == "ok":
            if self._trouble is None or store.waited_s(now_ms) > SETTLED_S:
                return None
            self._trouble = None
            are = "is" if self._waiting == 1 else "are"
            after = f"; {self._waiting:,} that waited {are} stored" if self._waiting else ""
            return f"the store takes samples again{after}"
        if store.state == "opening":
            return None
        self._waiting = store.waiting
        if store.state == self._trouble and now - self._said_at < REPEAT_S:
            return None
        self._trouble, self._said_at = store.state, now
        return f"the store takes no samples: {store.detail}; {_count(store.waiting, 'wait')}, {_lost(store)}"


def unstored(store: StoreStatus, folder: Path) -> str | None:
    """What a recorder that has ended did not get into its store; None where nothing. What waits is in ``folder``."""
    if not store.waiting and not store.dropped:
        return None
    why = "" if store.state == "ok" or not store.detail else f"{store.detail}: "
    waits = _count(store.waiting, "still wait")
    if store.waiting:
        are = "is" if store.waiting == 1 else "are"
        waits = f"{waits} in {folder} and {are} delivered by the next recorder"
    return f"{why}{waits}; {_lost(store)}"


def _count(samples: int, verb: str) -> str:
    """So many samples do that, in words."""
    if not samples:
        return f"no sample {verb}s"
    return f"1 sample {verb}s" if samples == 1 else f"{samples:,} samples {verb}"


def _lost(store: StoreStatus) -> str:
    return "none is lost" if not store.dropped else f"{store.dropped:,} {'is' if store.dropped == 1 else 'are'} lost"
