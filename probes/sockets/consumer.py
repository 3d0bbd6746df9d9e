"""Taker: who is given what a connection brings, read by read, for as long as it wants more."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from probes.sockets.stamp import Stamp

Take = Callable[[Stamp, bytes], bool]
"""Is given what one read brought, or a piece of it; whether it wants more."""


@dataclass(slots=True)
class Consumer:
    """Who is given every read; ``done`` when it is ``satisfied`` or nothing more can come."""

    take: Take
    done: "asyncio.Future[None]"
    patient: bool = False
    satisfied: bool = False

    def give(self, stamp: Stamp, data: bytes) -> None:
        """Hand one read over. What goes wrong with it is for whoever waits for ``done``."""
        try:
            self.satisfied = not self.take(stamp, data)
        except Exception as error:
            self.satisfied = True
            self.done.set_exception(error)
        else:
            if self.satisfied:
                self.done.set_result(None)
