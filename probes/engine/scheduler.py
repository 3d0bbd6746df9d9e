"""Starts every endpoint's probes on its cadence, by APScheduler on the engine's loop, however the clock is set."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import apscheduler.executors.asyncio  # noqa: F401 - a scheduler imports it when it starts: there may be no descriptor left
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.schedulers.base import STATE_RUNNING

from probes.clock import SteadyClock, until_tick
from probes.engine.endpoint_monitor import EndpointMonitor
from probes.engine.schedule import Cadence, CadenceTrigger, free_shares, spread
from probes.measure.host_noise import BEAT_S

CLOCK_CHECK_S: Final = 1.0
"""Seconds between two checks, at most, of whether the wall clock was set or the machine slept."""

log = logging.getLogger(__name__)


class Scheduler:
    """Calls each monitor at its due times; a late call has its own due time, and later ones it passed are missed.

    Where the wall clock was set, the next due time stays the same moment, and the grid takes over at least half an
    interval later. What came due while the machine slept is passed over. ``notify`` is called with a sentence about
    either. ``phases`` are those of endpoints whose phase is given out elsewhere, as shares of the interval.
    """

    def __init__(
        self,
        monitors: Sequence[EndpointMonitor],
        clock: SteadyClock,
        notify: Callable[[str], None] = lambda _: None,
        phases: Mapping[str, float] | None = None,
    ) -> None:
        self._clock = clock
        self._notify = notify
        self._apscheduler = _SteadyScheduler(
            self._now,
            self._follow_clock,
            timezone=UTC,
            job_defaults={"coalesce": True, "misfire_grace_time": None},
        )
        cadences = spread([(monitor.endpoint.name, monitor.endpoint.interval) for monitor in monitors])
        self._triggers = {one.name: CadenceTrigger(one.at_share((phases or {}).get(one.name))) for one in cadences}
        self._monitors = {monitor.endpoint.name: monitor for monitor in monitors}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, undone: Mapping[str, float] | None = None) -> None:
        """Begin to call monitors, on the running event loop.

        ``undone`` are the first due times that nobody has done yet (s since the epoch), by endpoint, where another
        process has done those before: the newest that is over is probed late, those before it are missed, as where this
        process was late itself; where it is over for more than half an interval it is missed, too.
        """
        now = self._now()
        for name in self._triggers:
            self._schedule(name, now, (undone or {}).get(name))
        self._apscheduler.start()

    def _schedule(self, name: str, now: datetime, undone: float | None = None) -> None:
        """Have an endpoint called at the due times of its trigger, from the first one after ``now`` on."""
        trigger = self._triggers[name]
        self._catch_up(name, undone, now)
        due = trigger.get_next_fire_time(trigger.fired, now)
        self._apscheduler.add_job(self._tick, trigger, args=(name,), id=name, next_run_time=due, replace_existing=True)
        self._plan_next(name)

    def _catch_up(self, name: str, undone: float | None, now: datetime) -> None:
        """Have the newest due time from ``undone`` until now probed late, and record the others as missed."""
        if undone is None:
            return
        trigger, monitor = self._triggers[name], self._monitors[name]
        over = list(trigger.cadence.between(undone, now.timestamp()))
        if over and now.timestamp() - over[-1] < trigger.cadence.interval / 2:
            due = over.pop()
            trigger.fired = datetime.fromtimestamp(due, UTC)
            # soon: whoever gives out the endpoint says after this whether it is paused
            asyncio.get_running_loop().call_soon(monitor.probe_due, due)
        for due in over:
            monitor.record_missed(due)

    def run_due(self) -> None:
        """Call the monitors that are due by now."""
        self._apscheduler.run_due()

    def reconfigure(
        self,
        monitors: Sequence[EndpointMonitor],
        phases: Mapping[str, float] | None = None,
        undone: Mapping[str, float] | None = None,
    ) -> None:
        """Call these monitors from now on, and no others. One whose interval is as it was keeps its due times.

        `run_due` comes first, so that what is due by now is done by the monitors and intervals that it was due of.
        ``phases`` are those of new ones, and ``undone`` as for `start`.
        """
        now, kept = self._now(), {monitor.endpoint.name: monitor for monitor in monitors}
        for name in self._triggers.keys() - kept.keys():
            self._apscheduler.remove_job(name)
            del self._triggers[name]
            if (timer := self._timers.pop(name, None)) is not None:
                timer.cancel()
        self._monitors = kept
        shares = free_shares(one.cadence.phase / one.cadence.interval for one in self._triggers.values())
        for name, monitor in kept.items():
            before, interval = self._triggers.get(name), monitor.endpoint.interval
            if before is None:
                share = (phases or {}).get(name)
                share = next(shares) if share is None else share
                self._triggers[name] = CadenceTrigger(Cadence(name, interval, interval * share))
                self._schedule(name, now, (undone or {}).get(name))
            elif before.cadence.interval != interval:
                share = before.cadence.phase / before.cadence.interval
                self._triggers[name] = CadenceTrigger(Cadence(name, interval, interval * share))
                self._triggers[name].follow(before)
                self._schedule(name, now)

    def begin(self, name: str) -> None:
        """Have an endpoint probed now, ahead of its first due time, unless that has come or it is called no more."""
        trigger = self._triggers.get(name)
        if trigger is not None and trigger.fired is None:
            self._apscheduler.modify_job(name, next_run_time=trigger.ahead(self._now()))
            self._tick(name)

    async def stop(self) -> None:
        """Stop calling monitors, and wait until no connection is being prepared."""
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
        """Have an endpoint probed for its due time, and the due times that passed since then recorded as missed."""
        monitor, trigger = self._monitors[name], self._triggers[name]
        if trigger.fired is not None:
            monitor.probe_due(trigger.fired.timestamp())
        for due in trigger.missed():
            monitor.record_missed(due)
        self._plan_next(name)

    def _follow_clock(self) -> None:
        """Re-align the schedule where the wall clock was set or the machine slept."""
        change = self._clock.follow()
        if not change.set_by and not change.slept:
            return
        now = self._clock.now()
        for name, trigger in self._triggers.items():
            trigger.move(change.set_by)
            if change.slept:
                trigger.pass_over(now)
            self._apscheduler.modify_job(name, next_run_time=trigger.upcoming)
            self._plan_next(name)
        if (words := change.words(now)) is not None:
            self._notify(words)

    def _plan_next(self, name: str) -> None:
        """Tell a monitor when it is due next, and have its connection prepared shortly before."""
        monitor, upcoming = self._monitors[name], self._triggers[name].upcoming
        if upcoming is None:
            return
        due = upcoming.timestamp()
        monitor.set_next_due(due)
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()
        ahead_s = monitor.ahead_s
        wait_s = due - self._clock.now() - ahead_s
        if wait_s > 0:
            loop = asyncio.get_running_loop()
            at = loop.time() + wait_s
            at += until_tick(at, BEAT_S)  # it need not wake the loop by itself
            self._timers[name] = loop.call_at(at, self._prepare, monitor, ahead_s)

    def _prepare(self, monitor: EndpointMonitor, ahead_s: float) -> None:
        task = asyncio.create_task(monitor.prepare(ahead_s))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)


class _SteadyScheduler(AsyncIOScheduler):  # type: ignore[misc]  # APScheduler 3 has no types
    """APScheduler on the clock ``now``: its own is ``datetime.now``, and set back by an hour it stops for an hour.

    ``before_jobs`` is called before each look at what is due.
    """

    def __init__(self, now: Callable[[], datetime], before_jobs: Callable[[], None], **options: Any) -> None:
        super().__init__(**options)
        self._steady_now = now
        self._before_jobs = before_jobs

    def run_due(self) -> None:
        """Run the jobs that are due by now."""
        self._process_jobs()

    def _process_jobs(self) -> float | None:
        """Run the jobs that are due. Returns the seconds until the next call, up to `CLOCK_CHECK_S`; None once stopped.

        What ``BaseScheduler._process_jobs`` (3.11) does for jobs in memory that are coalesced and never misfire; they
        only start something, so they are run here: a task for each would be cancelled by a stop that comes first, and
        its due time lost. It is called once more after a stop where the loop has been busy.
        """
        if self.state != STATE_RUNNING:
            return None
        try:
            self._before_jobs()
        except Exception:  # the clock is looked at again next time; without a return nobody would look at the schedule
            log.exception("following the clock")
        now, store = self._steady_now(), self._lookup_jobstore("default")
        for job in store.get_due_jobs(now):
            try:
                job._modify(next_run_time=job.trigger.get_next_fire_time(job.next_run_time, now))
                store.update_job(job)
                job.func(*job.args)
            except Exception:  # the others are due as well
                log.exception("what is due of %s", job.id)
        upcoming = store.get_next_run_time()
        return (
            CLOCK_CHECK_S
            if upcoming is None
            else min(CLOCK_CHECK_S, max(0.0, (upcoming - self._steady_now()).total_seconds()))
        )
