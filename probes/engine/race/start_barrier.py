"""Gun: the one start of all lanes of a heat."""

import asyncio
import time
from collections.abc import Sequence


class StartBarrier:
    """Lanes wait for it, each with its request ready to be written; it fires when nobody else is to come.

    They are let go in ``order``, within one turn of the loop: between two of them lies no more than one write.
    """

    def __init__(self, order: Sequence[int]) -> None:
        self.fired_at: int | None = None
        """When (monotonic ns); None before."""
        self._order = tuple(order)
        self._absent = set(order)
        self._waiting: dict[int, asyncio.Future[None]] = {}

    async def ready(self, lane: int) -> None:
        """Wait for it, ready to go at once."""
        self._waiting[lane] = asyncio.get_running_loop().create_future()
        self._arrive(lane)
        await self._waiting[lane]

    def scratch(self, lane: int) -> None:
        """Wait for this lane no longer: it will not start."""
        self._arrive(lane)

    def _arrive(self, lane: int) -> None:
        self._absent.discard(lane)
        if self._absent or self.fired_at is not None:
            return
        asyncio.get_running_loop().call_soon(self._fire)  # not at once: who came last would not have to wait

    def _fire(self) -> None:
        if self.fired_at is not None:
            return
        self.fired_at = time.monotonic_ns()
        for one in self._order:
            waiting = self._waiting.get(one)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)
