"""The deadline of a probe: one timer, set anew in each phase, that knows which of the time-outs it stands for."""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Literal, Self

from probes.endpoint import Timeouts

SLACK: Final = 0.01
"""A share of the phase's limit: within it of the last time, the timer is not set anew, so that a stream of
2,000 tokens/s seldom sets it."""

END_S: Final = 2.0
"""Seconds that a complete answer has for its end: usage may still come, and a connection that ends well can be kept."""

Phase = Literal["connect", "first token", "stall", "end", "total"]


class Deadline:
    """Raises TimeoutError in its ``async with`` block when the current phase, or the whole, has taken too long.

    After that, ``phase`` says which of the limits it was: one of the endpoint's four, or `END_S`.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self._limits: Mapping[Phase, float] = {
            "connect": timeouts.connect,
            "first token": timeouts.first_token,
            "stall": timeouts.stall,
            "end": END_S,
            "total": timeouts.total,
        }
        self._loop = asyncio.get_running_loop()
        self._began = self._entered = self._loop.time()
        self._last = self._began + timeouts.total
        self._timeout = asyncio.timeout_at(self._last)
        self.phase: Phase = "total"

    def enter(self, phase: Phase) -> None:
        """Begin a phase now. The stall phase is entered again at every output: progress, not bytes, moves it."""
        limit, now = self._limits[phase], self._loop.time()
        if phase == self.phase and now - self._entered < limit * SLACK:
            return
        self._entered = now
        at = now + limit
        self.phase = phase if at < self._last else "total"
        self._timeout.reschedule(min(at, self._last))

    def release(self) -> float:
        """Stop the timer, since what is still awaited has a limit of its own. Returns the seconds left of the total."""
        self._timeout.reschedule(None)
        return max(0.0, self._last - self._loop.time())

    @property
    def phase_bounds(self) -> tuple[int, int]:
        """When the phase that counts began, and when it is to end; monotonic ns."""
        ends = self._timeout.when() or self._last
        return round((self._began if self.phase == "total" else self._entered) * 1e9), round(ends * 1e9)

    @property
    def words(self) -> str:
        """Which limit has passed, in the words of a sample's detail."""
        seconds = self._limits[self.phase]
        return f"{self.phase}: nothing within {seconds:g} s" if self.phase != "total" else f"total: over {seconds:g} s"

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._timeout.__aexit__(exc_type, exc_value, traceback)
