"""Scheduler: APScheduler on the engine's loop, ticking every watch on its cadence, however the wall clock is set."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import apscheduler.executors.asyncio  # noqa: F401 - a scheduler imports it when it starts: there may be no descriptor left
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.schedulers.base import STATE_RUNNING

from probes.clock import SteadyClock
from probes.engine.endpoint_monitor import EndpointMonitor
from probes.engine.schedule import CadenceTrigger, spread

LOOK_S: Final = 1.0
"""How often, at least, the wall clock is followed."""

log = logging.getLogger(__name__)


class Scheduler:
    """Ticks watches. A late tick still fires, with its own due time; those missed meanwhile are told of, not caught up.

    ``first`` holds, by endpoint, when to begin (seconds since the epoch) where that is sooner than the grid. Where the
    wall clock was set, what is due next stays due at the same moment, and the grid takes over at least half an interval
    later. What came due while the machine slept is passed over. ``said`` is told of either, in words.
    """

    def __init__(
        self,
        watches: list[EndpointMonitor],
        first: Mapping[str, float],
        clock: SteadyClock,
        said: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._clock = clock
        self._said = said
        self._apscheduler = _SteadyScheduler(
            self._now,
            self._follow,
            timezone=UTC,
            job_defaults={"coalesce": True, "misfire_grace_time": None},
        )
        cadences = spread([(watch.endpoint.name, watch.endpoint.interval) for watch in watches])
        self._triggers = {
            watch.endpoint.name: CadenceTrigger(cadence, first.get(watch.endpoint.name))
            for watch, cadence in zip(watches, cadences, strict=True)
        }
        self._watches = {watch.endpoint.name: watch for watch in watches}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin ticking on the running loop."""
        now = self._now()
        for name, trigger in self._triggers.items():
            due = trigger.get_next_fire_time(None, now)
            self._apscheduler.add_job(self._tick, trigger, args=(name,), id=name, next_run_time=due)
            self._expect(name)
        self._apscheduler.start()

    async def stop(self) -> None:
        """Tick no more."""
        if self._apscheduler.running:
            self._apscheduler.pause()  # at once: to shut it down is put off until the loop's next turn
            self._apscheduler.shutdown(wait=False)
        for timer in self._timers.values():
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _tick(self, name: str) -> None:
        watch, trigger = self._watches[name], self._triggers[name]
        if trigger.fired is not None:
            watch.due(trigger.fired.timestamp())
        for due in trigger.missed():
            watch.missed(due)
        self._expect(name)

    def _follow(self) -> None:
        """Follow the wall clock, and re-align the schedule where it was set or the machine slept."""
        change = self._clock.follow()
        if not change.set_by and not change.slept:
            return
        now = self._clock.now()
        for name, trigger in self._triggers.items():
            trigger.move(change.set_by)
            if change.slept:
                trigger.pass_over(now)
            self._apscheduler.modify_job(name, next_run_time=trigger.upcoming)
            self._expect(name)
        if (words := change.words(now)) is not None:
            self._said(words)

    def _expect(self, name: str) -> None:
        """Tell when it is due next, and see to its connection shortly before."""
        watch, upcoming = self._watches[name], self._triggers[name].upcoming
        if upcoming is None:
            return
        due = upcoming.timestamp()
        watch.expect(due)
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()
        ahead_s = watch.ahead_s
        wait_s = due - self._clock.now() - ahead_s
        if wait_s > 0:
            self._timers[name] = asyncio.get_running_loop().call_later(wait_s, self._prepare, watch, ahead_s)

    def _prepare(self, watch: EndpointMonitor, ahead_s: float) -> None:
        task = asyncio.create_task(watch.prepare(ahead_s))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)


class _SteadyScheduler(AsyncIOScheduler):  # type: ignore[misc]  # APScheduler 3 has no types
    """APScheduler with a clock that is given: its own is ``datetime.now``, and set back by an hour it stops for one."""

    def __init__(self, now: Callable[[], datetime], before: Callable[[], None], **options: Any) -> None:
        super().__init__(**options)
        self._steady_now = now
        self._before = before

    def _process_jobs(self) -> float | None:
        """Run the jobs that are due; the seconds until the next look, at most `LOOK_S`, or None where it has stopped.

        What ``BaseScheduler._process_jobs`` (3.11) does for jobs in memory that are coalesced and never misfire; they
        only start something, so they are run here: a task for each would be cancelled by a stop that comes first, and
        its due time lost. It is called once more after a stop where the loop has been busy.
        """
        if self.state != STATE_RUNNING:
            return None
        self._before()
        now, store = self._steady_now(), self._lookup_jobstore("default")
        for job in store.get_due_jobs(now):
            job._modify(next_run_time=job.trigger.get_next_fire_time(job.next_run_time, now))
            store.update_job(job)
            try:
                job.func(*job.args)
            except Exception:  # the others are due as well
                log.exception("what is due of %s", job.id)
        upcoming = store.get_next_run_time()
        return LOOK_S if upcoming is None else min(LOOK_S, max(0.0, (upcoming - self._steady_now()).total_seconds()))
