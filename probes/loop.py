"""Loop: the engine's event loop, which knows since when it may have been deaf to its sockets."""

import asyncio
import selectors
import time
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

WAITED_NS: Final = 50_000
"""A selection that took longer did wait: nothing was ready when it began."""


class Ear(selectors.DefaultSelector):
    """The selector of the engine's loop.

    ``deaf_since_ns`` (monotonic) is the earliest instant at which what is being read now can have become readable.
    While the loop runs its callbacks it does not listen; what comes then is found at once by the next selection. A
    selection that had to wait found nothing when it began, so what woke it came just now.
    """

    def __init__(self) -> None:
        super().__init__()
        self.deaf_since_ns = self._woke_ns = time.monotonic_ns()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As the selector's own."""
        asked = time.monotonic_ns()
        ready = super().select(timeout)
        woke = time.monotonic_ns()
        self.deaf_since_ns = woke if woke - asked > WAITED_NS else self._woke_ns
        self._woke_ns = woke
        return ready


class EngineLoop(asyncio.SelectorEventLoop):
    """asyncio's selector loop with an `Ear`."""

    def __init__(self) -> None:
        self.ear = Ear()
        super().__init__(self.ear)


def deaf_since_ns() -> int | None:
    """`Ear.deaf_since_ns` of the running loop; None where that is not an `EngineLoop`."""
    loop = asyncio.get_running_loop()
    return loop.ear.deaf_since_ns if isinstance(loop, EngineLoop) else None


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run an engine's main coroutine on a loop of this kind; as `asyncio.run` otherwise."""
    with asyncio.Runner(loop_factory=EngineLoop) as runner:
        return runner.run(main)
