"""The first round when an engine starts: each endpoint's first probe, and a warm one where that was cold."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from probes.diagnosis.reachability import origin_of
from probes.endpoint import Endpoint
from probes.engine.endpoint_monitor import EndpointMonitor

STEP_S: Final = 0.2
"""Seconds between the starts of first probes, so that endpoints do not disturb each other's times."""

AT_ONCE: Final = 2
"""Probes of one host that run at once: four models of one llama.cpp server, asked together, took 2.4–9.7 s each where
every later round took 1.1–1.8 s."""


async def run_first_round(monitors: Sequence[EndpointMonitor], begin: Callable[[str], None]) -> None:
    """Probe every endpoint for the first time, in this order. ``begin(name)`` starts the first probe of an endpoint.

    At most `AT_ONCE` probes of one host run at once; the next starts as one ends. Only when all of a host have had
    their first are warm ones sent after those that were cold (`EndpointMonitor.probe_warm`).
    """
    now = asyncio.get_running_loop().time()
    hosts = dict[str, deque[tuple[float, EndpointMonitor]]]()
    for index, monitor in enumerate(monitors):
        at = now + index * min(STEP_S, monitor.endpoint.interval / len(monitors))
        hosts.setdefault(host_of(monitor.endpoint), deque()).append((at, monitor))
    async with asyncio.TaskGroup() as tasks:
        for first in hosts.values():
            again = deque[EndpointMonitor]()
            for _ in range(AT_ONCE):
                tasks.create_task(_probe_in_turn(first, again, begin))


def host_of(endpoint: Endpoint) -> str:
    """Which server an endpoint is on: the origin of its base URL or its socket's file, whatever proxy lies between."""
    return endpoint.route.socket or origin_of(endpoint.base_url)


async def _probe_in_turn(
    first: deque[tuple[float, EndpointMonitor]], again: deque[EndpointMonitor], begin: Callable[[str], None]
) -> None:
    """One of a host's workers: make first probes one at a time, then warm ones; its workers share both queues.

    ``first`` holds the endpoints not probed yet, each with its earliest start by the loop's clock, ``again`` those that
    were.
    """
    loop = asyncio.get_running_loop()
    while first:
        at, monitor = first.popleft()
        await asyncio.sleep(at - loop.time())
        begin(monitor.endpoint.name)
        await monitor.wait_until_idle()
        again.append(monitor)
    while again:
        monitor = again.popleft()
        await monitor.probe_warm()
        await monitor.wait_until_idle()
