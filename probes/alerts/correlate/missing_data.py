"""Lanes without data: where most of a vantage have none we did not measure, and nobody else is to blame."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from probes.alerts.correlate.record import MemberKey
from probes.alerts.state import Judgement, State

WAIT_MS: Final = 60_000
"""For so many ms after the first lane has no data others are waited for: if most have none, the fault is ours."""

_NEVER: Final = 1 << 62


class MissingData:
    """Which lanes' missing data is our own doing, or may be; all instants are milliseconds since the epoch.

    Where most lanes of a vantage have no data, those do not count until they have had data again: after a machine has
    slept they come back by and by.
    """

    def __init__(self) -> None:
        self._counts_from: dict[MemberKey, int] = {}  # 0: from now on

    def update(self, judgements: Iterable[Judgement], now: int) -> None:
        """Take in what is judged of all lanes now."""
        missing: dict[MemberKey, int] = {}
        lanes, without = Counter[str](), Counter[str]()
        for one in judgements:
            lanes[one.vantage] += 1
            if one.state is State.NO_DATA:
                without[one.vantage] += 1
                key = (one.vantage, one.endpoint, one.lane)
                before = self._counts_from.get(key, now + WAIT_MS)
                missing[key] = before if before == _NEVER else min(before, now + WAIT_MS)
        self._counts_from = {
            key: _NEVER if 2 * without[key[0]] > lanes[key[0]] else at if at > now else 0 for key, at in missing.items()
        }

    def clear(self) -> None:
        """Take in that all lanes have data."""
        self._counts_from = {}

    def is_ours(self, judgement: Judgement) -> bool:
        """Whether that a lane has no data does not count, or does not yet."""
        return self._counts_from.get((judgement.vantage, judgement.endpoint, judgement.lane), 0) > 0
