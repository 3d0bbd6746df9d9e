"""Ticker: when the screen is drawn again: soon after something came, and at each whole second."""

import asyncio
from collections.abc import Callable
from typing import Final

SECOND_MS: Final = 1000
"""Every clock, age and countdown of the screen is shown in seconds: between two of them nothing moves by itself."""


class Ticker:
    """Calls ``tick`` soon after `wake`, at most every ``rest_s`` seconds, and else when the clock shows another second.

    ``now`` gives the present in ms since the epoch. It keeps one timer of the loop, and none of Textual's: a screen on
    which nothing happens has next to nothing to do.
    """

    def __init__(self, tick: Callable[[], object], now: Callable[[], int], rest_s: float) -> None:
        self._tick = tick
        self._now = now
        self._rest_s = rest_s
        self._rested_at = 0.0
        self._next: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin with the next whole second; it needs a running loop."""
        self._schedule((SECOND_MS - self._now() % SECOND_MS) / SECOND_MS)

    def wake(self) -> None:
        """Something has come that is to be seen. Before `start` it waits for that."""
        if self._next is not None:
            self._schedule(0.0)

    def stop(self) -> None:
        """No further tick."""
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _schedule(self, after_s: float) -> None:
        """Tick after so long, not before it has rested; what is due sooner stays."""
        loop = asyncio.get_running_loop()
        at = max(loop.time() + after_s, self._rested_at)
        if self._next is not None:
            if self._next.when() <= at:
                return
            self._next.cancel()
        self._next = loop.call_at(at, self._run)

    def _run(self) -> None:
        self._next = None
        self._rested_at = asyncio.get_running_loop().time() + self._rest_s
        self.start()
        self._tick()
