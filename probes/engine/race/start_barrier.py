"""The barrier at which the lanes of a heat wait, so that all requests start together."""

import asyncio
import time
from collections.abc import Sequence


class StartBarrier:
    """Lanes wait at it, each with its request ready to be written; it releases them once every lane waits or withdrew.

    They are released in ``order``, within one turn of the loop: between two of them lies no more than one write.
    """

    def __init__(self, order: Sequence[int]) -> None:
        self.released_at: int | None = None
        """When (monotonic ns); None before."""
        self._order = tuple(order)
        self._missing = set(order)
        self._waiting: dict[int, asyncio.Future[None]] = {}

    async def wait(self, lane: int) -> None:
        """Block until every other lane waits too, or withdrew; then all start together."""
        self._waiting[lane] = asyncio.get_running_loop().create_future()
        self._arrived(lane)
        await self._waiting[lane]

    def withdraw(self, lane: int) -> None:
        """Wait for this lane no longer: it will not start."""
        self._arrived(lane)

    def _arrived(self, lane: int) -> None:
        self._missing.discard(lane)
        if self._missing or self.released_at is not None:
            return
        asyncio.get_running_loop().call_soon(self._release)  # not at once: who came last would not have to wait

    def _release(self) -> None:
        if self.released_at is not None:
            return
        self.released_at = time.monotonic_ns()
        for lane in self._order:
            waiting = self._waiting.get(lane)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)
