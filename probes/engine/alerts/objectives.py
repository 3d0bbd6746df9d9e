"""Objectives: how the endpoints that have a service-level objective keep it, counted from the store every minute."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from probes.alerts.objective import SloStatus
from probes.alerts.slo import with_burn
from probes.alerts.state import Judgement
from probes.endpoint import Endpoint, lane_of
from probes.engine.alerts.store_exchange import StoreExchange
from probes.store.problem import StoreProblem

EVERY_S: Final = 60.0
"""Seconds from one count to the next: the shortest window of a burn rate is five minutes."""

log = logging.getLogger(__name__)


class Objectives:
    """Counts, while `run` runs, for those of ``endpoints`` that have an objective; ``changed`` is called after each.

    ``now`` gives milliseconds since the epoch.
    """

    def __init__(
        self,
        store: StoreExchange,
        endpoints: Callable[[], Sequence[Endpoint]],
        *,
        now: Callable[[], int],
        changed: Callable[[], None],
    ) -> None:
        self._store, self._endpoints, self._now, self._changed = store, endpoints, now, changed
        self._by_name: dict[str, SloStatus] = {}
        self._lanes: dict[str, str] = {}
        self._burning_since: dict[str, int] = {}

    @property
    def statuses(self) -> tuple[SloStatus, ...]:
        """How they are kept, as it was counted last."""
        return tuple(self._by_name.values())

    def judged(self, judgement: Judgement) -> Judgement:
        """What is judged of a lane, or that the budget of its endpoint burns, where that is the worse."""
        status = self._by_name.get(judgement.endpoint)
        if status is None or self._lanes[judgement.endpoint] != judgement.lane:
            return judgement
        return with_burn(judgement, status, self._burning_since.get(judgement.endpoint, status.at))

    async def run(self) -> None:
        """Count every minute; until cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            kept = [one for one in self._endpoints() if one.slo is not None]
            if not kept and not self._by_name:
                continue
            try:
                counted = await asyncio.to_thread(self._store.objectives, kept, self._now())
            except StoreProblem as problem:
                log.info("objectives are not counted: %s", problem)
                continue
            self._by_name = {one.endpoint: one for one in counted}
            self._lanes = {one.name: lane_of(one.connection) for one in kept}
            self._burning_since = {
                one.endpoint: self._burning_since.get(one.endpoint, one.at) for one in counted if one.firing is not None
            }
            self._changed()
