"""Loop lag: how late the engine's own event loop runs, so that a sample can say when it may have been bent."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final

BEAT_S: Final = 0.02
KEPT_S: Final = 120.0


class LoopLag:
    """A heartbeat on the running loop that remembers how late each beat came; ``each`` is called at every beat."""

    def __init__(self, each: Callable[[], None] = lambda: None) -> None:
        self._each = each
        self._late: deque[tuple[int, float]] = deque(maxlen=round(KEPT_S / BEAT_S))
        self._due_ns = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin the heartbeat on the running loop."""
        self._due_ns = time.monotonic_ns() + round(BEAT_S * 1e9)
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._beat)

    def stop(self) -> None:
        """End the heartbeat."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def since(self, instant: int) -> float | None:
        """The worst lateness, ms, of the beats since an instant (monotonic ns), the one now due included.

        None while there is no heartbeat.
        """
        if self._timer is None:
            return None
        worst = max(0.0, (time.monotonic_ns() - self._due_ns) / 1e6)
        for at, late in reversed(self._late):
            if at < instant:
                break
            worst = max(worst, late)
        return round(worst, 3)

    def _beat(self) -> None:
        now = time.monotonic_ns()
        self._late.append((now, (now - self._due_ns) / 1e6))
        self._each()
        self.start()
