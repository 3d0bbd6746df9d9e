"""StoredRaces: the races of a store, to be listed and loaded for the race page."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from probes.race.race import Race

if TYPE_CHECKING:
    from probes.store.races import RaceSummary

NEWEST: Final = 500
"""How many races a list holds."""


class StoredRaceSource(Protocol):
    """A source of stored races; both methods block, and raise StoreProblem."""

    def listed(self) -> "Sequence[RaceSummary]":
        """The newest races, the last first."""
        ...

    def load(self, number: int) -> Race | None:
        """One of them, whole."""
        ...


class StoredRaces:
    """The races of the store at ``url()``, which is called each time; without a store (None) there are none."""

    def __init__(self, url: Callable[[], str | None]) -> None:
        self._url = url

    def listed(self) -> "Sequence[RaceSummary]":
        """The newest races, the last first."""
        from probes.store import races  # not before the first picture

        url = self._url()
        return races.listed(url, NEWEST) if url else ()

    def load(self, number: int) -> Race | None:
        """One of them, whole."""
        from probes.store import races

        url = self._url()
        return races.load(url, number) if url else None
