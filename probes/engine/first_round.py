"""The first round, when an engine starts or endpoints are added: a first probe of each, and a warm one after a cold."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from probes.diagnosis.reachability import origin_of
from probes.endpoint import Endpoint
from probes.engine.endpoint_monitor import EndpointMonitor

STEP_S: Final = 0.2
"""Seconds between the starts of first probes, so that endpoints do not disturb each other's times."""

AT_ONCE: Final = 2
"""Probes of one host that run at once: four models of one llama.cpp server, asked together, took 2.4–9.7 s each where
every later round took 1.1–1.8 s."""


@dataclass(slots=True)
class _Queue:
    """What is left to do on one host, by ``workers`` at a time.

    ``first`` holds the endpoints not probed yet, each with its earliest start by the loop's clock and whether a warm
    one is to follow, ``again`` those that were.
    """

    first: deque[tuple[float, EndpointMonitor, bool]] = field(default_factory=deque)
    again: deque[EndpointMonitor] = field(default_factory=deque)
    workers: int = 0


class FirstRound:
    """Probes endpoints for the first time, in the order in which they are added. ``begin(name)`` starts such a probe.

    At most `AT_ONCE` probes of one host run at once; the next starts as one ends. Only when all of a host have had
    their first are warm ones sent after those that were cold (`EndpointMonitor.probe_warm`).
    """

    def __init__(self, begin: Callable[[str], None]) -> None:
        self._begin = begin
        self._queues: dict[str, _Queue] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, monitors: Sequence[EndpointMonitor], *, warm: bool = True) -> None:
        """Probe these too; those that have been measured before need no ``warm`` one after a cold first one."""
        now = asyncio.get_running_loop().time()
        for index, monitor in enumerate(monitors):
            at = now + index * min(STEP_S, monitor.endpoint.interval / len(monitors))
            queue = self._queues.setdefault(host_of(monitor.endpoint), _Queue())
            queue.first.append((at, monitor, warm))
            if queue.workers < AT_ONCE:
                queue.workers += 1
                task = asyncio.create_task(self._work(queue))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def wait(self) -> None:
        """Wait until all that was added has been probed."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        """Begin no more probes."""
        for task in self._tasks:
            task.cancel()

    async def _work(self, queue: _Queue) -> None:
        """Be one of a host's workers: make first probes one at a time, then warm ones."""
        loop = asyncio.get_running_loop()
        try:
            while queue.first or queue.again:
                if queue.first:
                    at, monitor, warm = queue.first.popleft()
                    await asyncio.sleep(at - loop.time())
                    self._begin(monitor.endpoint.name)
                    await monitor.wait_until_idle()
                    if warm:
                        queue.again.append(monitor)
                else:
                    monitor = queue.again.popleft()
                    await monitor.probe_warm()
                    await monitor.wait_until_idle()
        finally:
            queue.workers -= 1


def host_of(endpoint: Endpoint) -> str:
    """Which server an endpoint is on: the origin of its base URL or its socket's file, whatever proxy lies between."""
    return endpoint.route.socket or origin_of(endpoint.base_url)
