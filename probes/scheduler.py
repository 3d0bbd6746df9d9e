"""Scheduler: APScheduler on the engine's loop, ticking every watch on its cadence."""

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC
from typing import Final

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from probes.schedule import CadenceTrigger, spread
from probes.watch import Watch

AHEAD_S: Final = 2.0
"""How long before a due time a warm connection is looked after; at most a quarter of the interval."""


class Scheduler:
    """Ticks watches. A late tick still fires, with its own due time; missed ones are not caught up.

    ``first`` holds, by endpoint, when to begin (seconds since the epoch) where that is sooner than the grid.
    """

    def __init__(self, watches: list[Watch], first: Mapping[str, float]) -> None:
        self._apscheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1}
        )
        cadences = spread([(watch.endpoint.name, watch.endpoint.interval) for watch in watches])
        for watch, cadence in zip(watches, cadences, strict=True):
            trigger = CadenceTrigger(cadence, first.get(watch.endpoint.name))
            self._apscheduler.add_job(self._tick, trigger, args=(watch, trigger), id=watch.endpoint.name)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin ticking on the running loop."""
        self._apscheduler.start()
        for job in self._apscheduler.get_jobs():
            self._expect(*job.args)

    async def stop(self) -> None:
        """Tick no more."""
        if self._apscheduler.running:
            self._apscheduler.shutdown(wait=False)
        for timer in self._timers.values():
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _tick(self, watch: Watch, trigger: CadenceTrigger) -> None:
        if trigger.fired is not None:
            watch.due(trigger.fired.timestamp())
        self._expect(watch, trigger)

    def _expect(self, watch: Watch, trigger: CadenceTrigger) -> None:
        if trigger.upcoming is None:
            return
        due = trigger.upcoming.timestamp()
        watch.expect(due)
        ahead = due - time.time() - min(AHEAD_S, watch.endpoint.interval / 4)
        if ahead > 0:
            loop = asyncio.get_running_loop()
            self._timers[watch.endpoint.name] = loop.call_later(ahead, self._prepare, watch)

    def _prepare(self, watch: Watch) -> None:
        task = asyncio.create_task(watch.prepare())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
