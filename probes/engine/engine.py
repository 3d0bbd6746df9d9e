"""The engine of one set of endpoints: probes them on schedule, stores the samples and passes them to listeners."""

import asyncio
import gc
import logging
import random
import ssl
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, ParamSpec, Protocol

from probes.alerts.settings import AlertSettings
from probes.budget.cap import Budget, Ledger
from probes.budget.charge import highest_charge
from probes.clock import SteadyClock
from probes.diagnosis.reachability import DEFAULT_PLAN, ReachabilityPlan
from probes.diagnosis.reachability_checks import ReachabilityMonitor
from probes.endpoint import Endpoint
from probes.engine.endpoint_monitor import EndpointMonitor
from probes.engine.first_round import FirstRound
from probes.engine.scheduler import Scheduler
from probes.feed.messages import (
    AlertStatus,
    Command,
    ConfigurationStatus,
    EndpointFacts,
    EngineStatus,
    MonitorStatus,
    RecorderStatus,
)
from probes.measure.host_noise import HostNoiseMonitor
from probes.measure.probe import REMEMBERED, Prober, ProbeResult
from probes.outcome import Outcome
from probes.sample import Sample
from probes.store.problem import StoreProblem
from probes.store.status import StoreStatus
from probes.tls.context import TlsContexts
from probes.transport.connect import is_encrypted
from probes.transport.factory import cold_transport_of, transport_of
from probes.wire import load_dialect
from probes.wire.credentials import Credentials

BEAT_S: Final = 3.0
"""Seconds from one write of the engine's status to the store to the next: the write renews the recorder's lease, and
screens that follow another engine read it."""

GRACE_S: Final = 0.5
"""Seconds that a running probe may go on once the engine stops."""

LAG_WINDOW_NS: Final = 10_000_000_000
"""How far back the status looks for the longest lag of the event loop."""

RACING: Final = "racing"
"""Why due times of a race's lanes are skipped."""

NOTICE_S: Final = 600.0
"""Seconds for which the engine's status shows that the clock was set, or that the machine slept."""

Args = ParamSpec("Args")

log = logging.getLogger(__name__)


class Store(Protocol):
    """Where samples are stored; never blocks, never raises."""

    def put(self, sample: Sample, answer: str | None) -> None:
        """Have a sample committed soon, and the text of its answer in place of the endpoint's last one."""

    def beat(self, status_json: str) -> None:
        """Have the engine's status stored, as JSON."""

    def status(self) -> StoreStatus:
        """The state of the store."""

    async def opened(self) -> StoreProblem | None:
        """Wait until the store was tried for the first time. Returns what went wrong; None where nothing did."""


class Keys(Protocol):
    """Finds the credentials of endpoints."""

    async def find(self, endpoint: Endpoint) -> Credentials | None:
        """The credentials of an endpoint's requests; None where they need none. Raises KeyMissing."""

    def forget(self, endpoint: Endpoint) -> None:
        """Drop an endpoint's cached keys, since the provider refused one: they are looked up again next time."""

    def forget_all(self) -> None:
        """Drop all cached keys, since a person has changed some."""


class Engine:
    """Probes endpoints on schedule until `run` is told to stop. Construct and run it on one event loop.

    It is the `MonitorServices` of its monitors and the `RaceServices` of races. `reconfigure` changes what it probes
    while it runs; ``configuration`` says what came of that, and ``keys_changed`` is called where a person changed keys.
    ``alerts`` says what is judged of the samples, and ``configure_alerts`` is called with changed settings of that.
    ``tls`` is the TLS context of endpoints without TLS options of their own. ``recent`` holds, by endpoint name, the
    newest samples of earlier runs, oldest first, so that a restart does not probe again early. A listener's exception
    is logged; the others are still called.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        ledger: Ledger,
        *,
        store: Store | None,
        keys: Keys,
        vantage: str = "local",
        recent: Mapping[str, Sequence[Sample]] | None = None,
        tls: ssl.SSLContext | None = None,
        reachability_plan: ReachabilityPlan = DEFAULT_PLAN,
        clock: SteadyClock | None = None,
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._keys = keys
        self._recent = {name: deque(samples, maxlen=REMEMBERED) for name, samples in (recent or {}).items()}
        self._paused = False
        self._clock = clock or SteadyClock()
        self._notice: tuple[float, str] | None = None
        self._noise_monitor = HostNoiseMonitor()
        self._sample_listeners: list[Callable[[Sample, str], None]] = [self._store_sample]
        self._status_listeners: list[Callable[[MonitorStatus], None]] = []
        self._result_listeners: list[Callable[[ProbeResult], None]] = []
        self._endpoints_listeners: list[Callable[[Sequence[Endpoint]], None]] = []
        self.vantage = vantage
        self._contexts = TlsContexts(tls)
        self._racing: Collection[str] = ()
        self._retired: set[EndpointMonitor] = set()
        self._scheduler: Scheduler | None = None
        self._first_round: FirstRound | None = None
        self.configuration: Callable[[], ConfigurationStatus | None] = lambda: None
        self.alerts: Callable[[], AlertStatus | None] = lambda: None
        self.configure_alerts: Callable[[AlertSettings], None] = lambda _: None
        self.keys_changed: Callable[[], None] = lambda: None
        self.endpoints = tuple(endpoints)
        self.monitors = {
            endpoint.name: self._monitor(endpoint, self.make_prober(endpoint))
            for endpoint in self.endpoints
            if endpoint.enabled
        }
        self._reachability = ReachabilityMonitor(
            [monitor.endpoint for monitor in self.monitors.values()],
            reachability_plan,
            self._contexts,
            is_watched=self._is_watching,
            absences=self._noise_monitor.absences,
            find_key=self.find_credentials,
        )

    def make_prober(self, endpoint: Endpoint) -> Prober:
        """A prober with this engine's TLS contexts and host noise monitor, which knows the endpoint's newest samples.

        Raises ConfigError and ValueError where a certificate file cannot be used.
        """
        return Prober(
            endpoint,
            load_dialect(endpoint.dialect),
            transport_of(endpoint, self._contexts),
            cold_transport_of(endpoint, self._contexts),
            vantage=self.vantage,
            noise_monitor=self._noise_monitor,
            before=self._recent.get(endpoint.name, ()),
        )

    def _monitor(self, endpoint: Endpoint, prober: Prober) -> EndpointMonitor:
        monitor = EndpointMonitor(
            endpoint,
            prober,
            services=self,
            vantage=self.vantage,
            rng=random.Random(),  # noqa: S311  # jitter, not secrecy
            clock=self._clock,
        )
        if endpoint.name in self._racing:
            monitor.suspend(RACING)
        return monitor

    def prepare(self, endpoints: Iterable[Endpoint]) -> None:
        """Load what connections to these endpoints need, so that `reconfigure` holds nothing up; call it in a thread.

        Raises ConfigError and ValueError where a certificate file cannot be used.
        """
        for endpoint in endpoints:
            if endpoint.enabled:
                load_dialect(endpoint.dialect)
                if is_encrypted(endpoint.base_url):
                    self._contexts.of(endpoint.route.tls)

    def reconfigure(self, endpoints: Iterable[Endpoint], budget: Budget, reachability_plan: ReachabilityPlan) -> None:
        """Probe these endpoints from now on, within this budget.

        One that is as it was keeps everything; one that was changed keeps its due times, unless its interval is
        another, and is probed as it is now from its next probe on. A probe that runs ends as it began, also of an
        endpoint that is gone. New ones have a first round of their own. Raises ConfigError and ValueError, with
        nothing changed, where a certificate file cannot be used.
        """
        endpoints = tuple(endpoints)
        wanted = {one.name: one for one in endpoints if one.enabled}
        before = {name: monitor.endpoint for name, monitor in self.monitors.items()}
        probers = {name: self.make_prober(one) for name, one in wanted.items() if before.get(name) != one}
        self._reachability.reconfigure(wanted.values(), reachability_plan)
        self._ledger = replace(self._ledger, budget=budget)
        monitors, added = dict[str, EndpointMonitor](), list[EndpointMonitor]()
        if self._scheduler is not None:
            self._scheduler.run_due()
        for name, endpoint in wanted.items():
            monitor = self.monitors.get(name)
            if monitor is None:
                monitor = self._monitor(endpoint, probers[name])
                added.append(monitor)
            elif name in probers:
                monitor.reconfigure(endpoint, probers[name])
            monitors[name] = monitor
        gone = [monitor for name, monitor in self.monitors.items() if name not in monitors]
        self.endpoints, self.monitors = endpoints, monitors
        _call_each(self._endpoints_listeners, endpoints)
        for monitor in gone:
            self._retire(monitor)
        if self._scheduler is not None and self._first_round is not None:
            self._scheduler.reconfigure(list(monitors.values()))
            self._first_round.add(self._stale(added))

    def _retire(self, monitor: EndpointMonitor) -> None:
        """Let a monitor's running probe end, then forget it."""
        monitor.retire()
        if monitor.status.running:
            self._retired.add(monitor)
            ending = asyncio.create_task(monitor.wait_until_idle())
            ending.add_done_callback(lambda _: self._retired.discard(monitor))

    def on_sample(self, listener: Callable[[Sample, str], None]) -> None:
        """Call ``listener`` with every sample from now on, and the text of its answer."""
        self._sample_listeners.append(listener)

    def on_status(self, listener: Callable[[MonitorStatus], None]) -> None:
        """Call ``listener`` with an endpoint's status whenever it changes."""
        self._status_listeners.append(listener)

    def on_result(self, listener: Callable[[ProbeResult], None]) -> None:
        """Call ``listener`` with the result of every scheduled probe from now on: sample, answer and timeline."""
        self._result_listeners.append(listener)

    def on_endpoints(self, listener: Callable[[Sequence[Endpoint]], None]) -> None:
        """Call ``listener`` with all endpoints whenever they are configured anew, before the first probe of them."""
        self._endpoints_listeners.append(listener)

    @property
    def status(self) -> EngineStatus:
        """The engine's status now."""
        ledger = self._ledger.on(time.time_ns() // 1_000_000)
        return EngineStatus(
            store=self._store.status() if self._store else StoreStatus("ok"),
            paused=self._paused,
            loop_lag_ms=self._noise_monitor.lag_ms(time.monotonic_ns() - LAG_WINDOW_NS),
            usd_today=ledger.usd,
            tokens_today=ledger.tokens,
            usd_cap=ledger.budget.usd_per_day,
            tokens_cap=ledger.budget.tokens_per_day,
            over_budget=self._over_budget(ledger),
            checks=self._reachability.newest,
            notice=self._current_notice(),
        )

    def _over_budget(self, ledger: Ledger) -> str | None:
        """Why no endpoint can be probed any more today; None while one can."""
        settled = replace(ledger, reserved=())
        why = None
        for monitor in self.monitors.values():
            if (why := settled.refusal(highest_charge(monitor.endpoint))) is None:
                return None
        return why or ledger.over

    async def store_opened(self) -> StoreProblem | None:
        """Wait until the store was tried for the first time. Returns what went wrong; None where nothing did."""
        return await self._store.opened() if self._store else None

    def handle(self, command: Command) -> None:
        """Carry out a screen's command; one for an endpoint that is not monitored is ignored."""
        if command.endpoint is None and command.do in ("pause", "resume"):
            self._paused = command.do == "pause"
        if command.do == "find_keys":
            self._keys.forget_all()
            self.keys_changed()
        for name, monitor in self.monitors.items():
            if command.endpoint in (None, name):
                if command.do == "probe":
                    monitor.probe_now()
                elif command.do in ("pause", "resume"):
                    monitor.pause(command.do == "pause")

    def suspend_for_race(self, lanes: Collection[str]) -> None:
        """Suspend scheduled probes of the endpoints of these names, and of no other; () resumes all."""
        self._racing = lanes
        for name, monitor in self.monitors.items():
            monitor.suspend(RACING if name in lanes else None)

    async def run(self, stop: asyncio.Event) -> None:
        """Probe on schedule until ``stop`` is set, then let running probes finish for `GRACE_S`."""
        gc.collect()
        gc.freeze()  # what start-up has made stays: walking it again and again would hold up the clock
        self._noise_monitor.start()
        self._scheduler = scheduler = Scheduler(list(self.monitors.values()), self._clock, self._notify)
        scheduler.start()
        self._first_round = first_round = FirstRound(scheduler.begin)
        first_round.add(self._stale(self.monitors.values()))
        beats = asyncio.create_task(self._beat())
        reachability = asyncio.create_task(self._reachability.run())
        await stop.wait()
        first_round.cancel()
        beats.cancel()
        reachability.cancel()
        self._scheduler = self._first_round = None
        await scheduler.stop()
        monitors = [*self.monitors.values(), *self._retired]
        await asyncio.gather(*(monitor.stop(GRACE_S) for monitor in monitors), return_exceptions=True)
        self._noise_monitor.stop()

    def _stale(self, monitors: Iterable[EndpointMonitor]) -> Sequence[EndpointMonitor]:
        """Those whose endpoint was not sampled within an interval: they do not wait for their due times."""
        now = self._clock.now()
        return [
            monitor
            for monitor in monitors
            if now - self._last_started_at(monitor.endpoint.name) / 1000 >= monitor.endpoint.interval
        ]

    def _last_started_at(self, name: str) -> int:
        """When an endpoint's newest sample began, ms since the epoch; 0 where there is none."""
        return max((sample.started_at for sample in self._recent.get(name, ())), default=0)

    def _notify(self, notice: str) -> None:
        """Log what was done to the schedule, and show it in the status for `NOTICE_S`."""
        log.warning(notice)
        self._notice = self._clock.elapsed(), notice

    def _current_notice(self) -> str | None:
        if self._notice is None or self._clock.elapsed() - self._notice[0] > NOTICE_S:
            return None
        return self._notice[1]

    async def _beat(self) -> None:
        while self._store is not None:
            self.beat()
            await asyncio.sleep(BEAT_S)

    def beat(self) -> None:
        """Have the recorder's status stored now, for screens that read along and for `inftop reload`."""
        if self._store is not None:
            monitors = tuple(monitor.status for monitor in self.monitors.values())
            facts = tuple(map(EndpointFacts.of, self.endpoints))
            status = RecorderStatus(self.status, monitors, facts, self.configuration(), self.alerts())
            self._store.beat(status.to_json())

    def _is_watching(self, endpoint: Endpoint) -> bool:
        """Whether probes of an endpoint are sent when they are due."""
        if (monitor := self.monitors.get(endpoint.name)) is None:
            return False
        status = monitor.status
        return not (status.paused or status.no_key)

    async def find_credentials(self, endpoint: Endpoint) -> Credentials | None:
        """The credentials of an endpoint's requests; None where they need none. Raises KeyMissing."""
        return await self._keys.find(endpoint)

    def record_cost(self, sample: Sample, endpoint: Endpoint) -> None:
        """Count what a sample of an endpoint cost; keys that were refused are looked up anew."""
        self._ledger = self._ledger.add(sample, endpoint)
        if sample.outcome is Outcome.AUTH:
            self._keys.forget(endpoint)

    def budget_refusal(self, *endpoints: Endpoint) -> str | None:
        """Why one probe of each of these must not be sent now; None while the day's budget has room for them."""
        return self._ledger.on(time.time_ns() // 1_000_000).refusal(*map(highest_charge, endpoints))

    def reserve_budget(self, endpoint: Endpoint) -> Callable[[], None]:
        """Set aside what a probe may cost at most. Returns the function that releases it, once its cost is recorded."""
        amount = highest_charge(endpoint)
        self._ledger = self._ledger.reserve(amount)

        def release() -> None:
            self._ledger = self._ledger.release(amount)

        return release

    def deliver(self, sample: Sample, answer: str, endpoint: Endpoint) -> None:
        """Store a sample, count what it cost and pass it to the listeners.

        ``endpoint`` is as it was when the probe began, which counts for its cost.
        """
        _call_each([self._note_sample], sample, endpoint)
        _call_each(self._sample_listeners, sample, answer)

    def status_changed(self, status: MonitorStatus) -> None:
        """Pass a monitor's new status to the listeners."""
        _call_each(self._status_listeners, status)

    def probe_finished(self, result: ProbeResult) -> None:
        """Pass a scheduled probe's result to the listeners."""
        _call_each(self._result_listeners, result)

    def _store_sample(self, sample: Sample, answer: str) -> None:
        if self._store is not None:
            self._store.put(sample, answer or None)

    def _note_sample(self, sample: Sample, endpoint: Endpoint) -> None:
        """Record a sample's cost, remember it for the endpoint's later probers, and take it as a reachability check."""
        self.record_cost(sample, endpoint)
        if sample.kind is None:
            self._recent.setdefault(sample.endpoint, deque(maxlen=REMEMBERED)).append(sample)
        self._reachability.note_probe(sample, endpoint, asyncio.get_running_loop().time())


def _call_each(listeners: Iterable[Callable[Args, None]], *args: Args.args, **kwargs: Args.kwargs) -> None:
    """Call each listener with the arguments; an exception of one is logged, and the others are still called."""
    for listener in listeners:
        try:
            listener(*args, **kwargs)
        except Exception:
            log.exception("a listener failed")
