"""Watch: one endpoint under watch: what to do when it is due, and how it stands."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Final

from probes.clock import SteadyClock
from probes.endpoint import Endpoint
from probes.engine.endpoint_backoff import EndpointBackoff
from probes.feed.messages import MonitorStatus
from probes.keys.secret import KeyMissing
from probes.measure.build_sample import unmeasured_sample
from probes.measure.own_fault import describe_defect
from probes.measure.probe import Prober, ProbeResult
from probes.outcome import INCONCLUSIVE, LIMITED, Outcome
from probes.sample import Sample
from probes.sockets.event_loop import let_others_read
from probes.wire.credentials import Credentials

AHEAD_S: Final = 2.0
"""How long before a due time a warm connection is looked after; at most a quarter of the interval."""

Deliver = Callable[[Sample, str], None]
FindKey = Callable[[Endpoint], Awaitable[Credentials | None]]

log = logging.getLogger(__name__)


class EndpointMonitor:
    """Starts at most one probe of its endpoint at a time, and turns every due time into exactly one sample.

    The exception is an endpoint without a key: one `no_key` sample says what is missing, and it is looked for again at
    every due time. ``deliver`` takes each sample and the answer's text; ``refusal`` says why nothing may be spent now,
    or None; ``reserve`` sets aside what a probe may cost until what it gives is called. ``changed`` is told whenever
    `status` has changed, ``probed`` all that a probe brought. None of them may raise.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        prober: Prober,
        *,
        vantage: str,
        find_key: FindKey,
        refusal: Callable[[], str | None],
        reserve: Callable[[], Callable[[], None]] = lambda: lambda: None,
        deliver: Deliver,
        changed: Callable[["EndpointMonitor"], None],
        probed: Callable[[ProbeResult], None] = lambda _: None,
        rng: random.Random,
        clock: SteadyClock | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._prober = prober
        self._vantage = vantage
        self._find_key = find_key
        self._refusal = refusal
        self._reserve = reserve
        self._deliver = deliver
        self._changed = changed
        self._probed = probed
        self._rng = rng
        self._clock = clock or SteadyClock()
        self._backoff = EndpointBackoff()
        self._blocked_until: float | None = None  # on the clock that nobody can set
        self._blocked_why: str | None = None
        self._failing = False
        self._paused = False
        self._held: str | None = None
        self._lacking: str | None = None
        self._next_due: float | None = None
        self._task: asyncio.Task[ProbeResult | KeyMissing] | None = None

    @property
    def status(self) -> MonitorStatus:
        """How it stands now."""
        return MonitorStatus(
            endpoint=self.endpoint.name,
            next_due=_ms(self._next_due),
            running=self._is_running(),
            paused=self._paused,
            no_key=self._lacking is not None,
            blocked_until=_ms(self._free_at()),
            blocked_why=self._blocked_why if self._is_blocked() else None,
            failing=self._is_blocked() and self._failing,
        )

    def expect(self, due: float) -> None:
        """Know the next due time (seconds since the epoch)."""
        self._next_due = due
        self._changed(self)

    def pause(self, paused: bool) -> None:
        """Stop or go on probing when due."""
        self._paused = paused
        self._changed(self)

    def hold(self, why: str | None) -> None:
        """Probe not when due for this reason, which is nobody's wish to pause; go on where it is None."""
        self._held = why

    def due(self, at: float) -> None:
        """The endpoint was due at ``at`` (seconds since the epoch): start a probe, or say why not."""
        with self._sampled():
            if (why := self._obstacle()) is not None:
                self._skip(why)
            else:
                late_s = max(0.0, self._clock.now() - at)
                self._start(time.monotonic_ns() - round(late_s * 1e9))

    def missed(self, at: float) -> None:
        """The endpoint was due at ``at`` (seconds since the epoch), and the engine was not there: busy, or stopped."""
        with self._sampled():
            self._skip("inftop did not come to it in time", started_at=round(at * 1000))

    def probe_now(self) -> None:
        """A person asks: pause and back-off do not hold, the budget does."""
        with self._sampled():
            if self._is_running():
                return
            if (why := self._refusal()) is not None:
                self._skip(why)
            else:
                self._start(None)

    @property
    def ahead_s(self) -> float:
        """How long before a due time to `prepare`: a connection opened then must still be open when it is due."""
        return min(AHEAD_S, self.endpoint.interval / 4, self._prober.idle_limit_s / 2)

    async def prepare(self, ahead_s: float = 0.0) -> None:
        """``ahead_s`` before a due time: see that a warm connection is open, and will be."""
        if self._obstacle() is None and self._lacking is None:
            with contextlib.suppress(KeyMissing):
                await self._prober.prepare(await self._find_key(self.endpoint), ahead_s)

    async def stop(self, grace: float) -> None:
        """Let a running probe finish within ``grace`` seconds, else end it; close the connection."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=grace)
            self._task.cancel()
            await asyncio.wait({self._task})
        self._prober.close()

    def _obstacle(self) -> str | None:
        if self._is_running():
            return "the probe before this one is still running"
        if self._paused:
            return "paused"
        if self._held is not None:
            return self._held
        if (why := self._refusal()) is not None:
            return why
        if (free_at := self._free_at()) is not None:
            return f"{self._blocked_why}: backing off until {_named(free_at, time.time())}"
        return None

    def _skip(self, why: str, started_at: int | None = None) -> None:
        sample = unmeasured_sample(self.endpoint, Outcome.SKIPPED, why, vantage=self._vantage, started_at=started_at)
        self._deliver(sample, "")
        self._changed(self)

    @contextlib.contextmanager
    def _sampled(self) -> Iterator[None]:
        """A defect that keeps a due probe from being started, or skipped, is its sample."""
        try:
            yield
        except Exception as error:
            log.exception("starting a probe of %s", self.endpoint.name)
            self._deliver(
                unmeasured_sample(self.endpoint, Outcome.OWN_FAULT, describe_defect(error), vantage=self._vantage), ""
            )

    def _start(self, due: int | None) -> None:
        over = partial(self._over, time.time_ns() // 1_000_000, self._reserve())
        self._task = asyncio.create_task(self._run(due))
        self._task.add_done_callback(over)
        self._changed(self)

    async def _run(self, due: int | None) -> ProbeResult | KeyMissing:
        """What a probe brought; in place of it, that there is no key for it."""
        try:
            credentials = await self._find_key(self.endpoint)
        except KeyMissing as missing:
            return missing
        self._lacking = None
        probed = await self._prober.probe(credentials, due)
        with contextlib.suppress(asyncio.CancelledError):  # it ends now in any case, and has been measured
            await let_others_read()
        return probed

    def _over(
        self, started_at: int, release: Callable[[], None], task: "asyncio.Task[ProbeResult | KeyMissing]"
    ) -> None:
        """Deliver the one sample of a probe begun at ``started_at`` (ms since the epoch), whatever became of it.

        What was set aside for it is set free then.
        """
        try:
            if not task.cancelled() and task.exception() is None:
                self._take(task.result())
                return
            outcome, detail = Outcome.SKIPPED, "the engine stopped during the probe"
            if not task.cancelled() and (error := task.exception()) is not None:
                log.error("probing %s", self.endpoint.name, exc_info=error)
                outcome, detail = Outcome.OWN_FAULT, describe_defect(error)
            spoilt = unmeasured_sample(self.endpoint, outcome, detail, vantage=self._vantage, started_at=started_at)
            self._deliver(spoilt, "")
        finally:
            release()
            self._changed(self)

    def _take(self, probed: ProbeResult | KeyMissing) -> None:
        if isinstance(probed, KeyMissing):
            self._lack(str(probed))
            return
        self._deliver(probed.sample, probed.text)
        if probed.sample.outcome not in INCONCLUSIVE:
            self._backoff, wait = self._backoff.after(
                probed.sample, self._rng, self.endpoint.interval, flooded=probed.flooded, why=probed.wait_why
            )
            self._blocked_until = self._clock.elapsed() + wait if wait else None
            self._blocked_why = _why(probed) if wait else None
            self._failing = probed.sample.outcome not in LIMITED
        self._probed(probed)

    def _lack(self, detail: str) -> None:
        if detail != self._lacking:
            self._lacking = detail
            self._deliver(unmeasured_sample(self.endpoint, Outcome.NO_KEY, detail, vantage=self._vantage), "")

    def _is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def _is_blocked(self) -> bool:
        return self._blocked_until is not None and self._clock.elapsed() < self._blocked_until

    def _free_at(self) -> float | None:
        """When the back-off ends (seconds since the epoch); None where there is none."""
        return self._clock.at(self._blocked_until) if self._blocked_until is not None and self._is_blocked() else None


def _why(probed: ProbeResult) -> str:
    """Why an endpoint is left alone after a probe of it."""
    outcome = probed.sample.outcome.value.replace("_", " ")
    return f"{outcome}: {probed.wait_why}" if probed.wait_why else outcome


def _named(instant: float, now: float) -> str:
    """An instant in UTC (seconds since the epoch); with its day, unless that is today's."""
    at, today = (datetime.fromtimestamp(one, UTC) for one in (instant, now))
    return f"{at:{'%H:%M:%S' if at.date() == today.date() else '%Y-%m-%d %H:%M:%S'}} UTC"


def _ms(instant: float | None) -> int | None:
    return None if instant is None else round(instant * 1000)
