"""Engine: schedule → probe → sample → store and whoever listens, wired for one set of endpoints."""

import asyncio
import gc
import logging
import random
import ssl
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, ParamSpec, Protocol

from probes.budget.cap import Ledger
from probes.budget.charge import most
from probes.clock import SteadyClock
from probes.diagnosis.reachability import USUAL, ReachabilityPlan
from probes.diagnosis.reachability_checks import ReachabilityMonitor
from probes.endpoint import Endpoint
from probes.engine.endpoint_monitor import EndpointMonitor
from probes.engine.scheduler import Scheduler
from probes.feed.messages import Command, EngineStatus, RecorderStatus
from probes.measure.host_noise import HostNoiseMonitor
from probes.measure.probe import REMEMBERED, Prober, ProbeResult
from probes.outcome import Outcome
from probes.sample import Sample
from probes.store.problem import StoreProblem
from probes.store.status import StoreStatus
from probes.tls.context import TlsContexts
from probes.transport.factory import cold_transport_of, transport_of
from probes.wire import load_dialect
from probes.wire.credentials import Credentials

FIRST_ROUND_STEP_S: Final = 0.2
"""Between the starts of the first round, so that endpoints do not measure each other."""

BEAT_S: Final = 3.0
"""How often the engine's state is written to the store, which renews its lease there and tells screens that attach."""

GRACE_S: Final = 0.5
"""How long a running probe may go on when the engine is asked to stop."""

LAG_WINDOW_NS: Final = 10_000_000_000

NOTICE_S: Final = 600.0
"""How long the engine's status tells of a clock that was set."""

Args = ParamSpec("Args")

log = logging.getLogger(__name__)


class Store(Protocol):
    """Where samples go; never blocks, never raises."""

    def put(self, sample: Sample, answer: str | None) -> None:
        """Take a sample, to be committed soon."""

    def beat(self, status_json: str) -> None:
        """Take the engine's state."""

    def status(self) -> StoreStatus:
        """How the store is."""

    async def opened(self) -> StoreProblem | None:
        """Wait until the store was tried for the first time; what went wrong then."""


class Keys(Protocol):
    """Where keys come from."""

    async def find(self, endpoint: Endpoint) -> Credentials | None:
        """What an endpoint's requests need. Raises KeyMissing."""

    def forget(self, endpoint: Endpoint) -> None:
        """Look again next time: the provider refused the key."""


class Engine:
    """Watches endpoints until told to stop. Construct and run it on one loop.

    ``listeners`` are told of every sample with its answer's text; ``on_change`` of every watch whose status changed.
    ``on_probe`` of all that a probe brought, marks included. ``tls`` is whom to trust where an endpoint says nothing.
    ``recent`` holds, by endpoint, the newest samples of before, oldest first: a restart does not probe again early.
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
        on_change: Callable[[EndpointMonitor], None] = lambda _: None,
        on_probe: Callable[[ProbeResult], None] = lambda _: None,
        tls: ssl.SSLContext | None = None,
        controls: ReachabilityPlan = USUAL,
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
        self._listeners: list[Callable[[Sample, str], None]] = []
        self._vantage = vantage
        self._contexts = TlsContexts(tls)
        self.watches = {
            endpoint.name: EndpointMonitor(
                endpoint,
                self.prober(endpoint),
                vantage=vantage,
                find_key=self.find_key,
                refusal=partial(self.refusal, endpoint),
                reserve=partial(self.reserve, endpoint),
                deliver=self._deliver,
                changed=_safely(on_change),
                probed=_safely(on_probe),
                rng=random.Random(),  # noqa: S311  # jitter, not secrecy
                clock=self._clock,
            )
            for endpoint in endpoints
            if endpoint.enabled
        }
        watched = [one.endpoint for one in self.watches.values()]
        self._controls = ReachabilityMonitor(
            watched, controls, self._contexts, self._is_watching, self._noise_monitor.absences, self.find_key
        )

    def prober(self, endpoint: Endpoint) -> Prober:
        """A prober with this engine's trust and clock, which knows the endpoint's newest samples.

        Raises what `TlsContexts.of` does.
        """
        return Prober(
            endpoint,
            load_dialect(endpoint.dialect),
            transport_of(endpoint, self._contexts),
            cold_transport_of(endpoint, self._contexts),
            vantage=self._vantage,
            noise_monitor=self._noise_monitor,
            before=self._recent.get(endpoint.name, ()),
        )

    def listen(self, listener: Callable[[Sample, str], None]) -> None:
        """Tell this one of every sample from now on."""
        self._listeners.append(listener)

    @property
    def status(self) -> EngineStatus:
        """The engine as it is now."""
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
            controls=self._controls.newest,
            notice=self._noticed(),
        )

    def _over_budget(self, ledger: Ledger) -> str | None:
        """Why no endpoint can be probed any more today; None while one can."""
        settled = replace(ledger, reserved=())
        found = None
        for watch in self.watches.values():
            if (found := settled.refusal(most(watch.endpoint))) is None:
                return None
        return found or ledger.over

    async def store_opened(self) -> StoreProblem | None:
        """Wait until the store was tried for the first time; what went wrong then, None where nothing."""
        return await self._store.opened() if self._store else None

    def obey(self, command: Command) -> None:
        """Do what a screen wishes; an endpoint that is not watched is nothing to do."""
        if command.endpoint is None and command.do != "probe":
            self._paused = command.do == "pause"
        for name, watch in self.watches.items():
            if command.endpoint in (None, name):
                if command.do == "probe":
                    watch.probe_now()
                else:
                    watch.pause(command.do == "pause")

    def hold(self, racing: Collection[str]) -> None:
        """Keep the schedule off endpoints that race, and off no other."""
        for name, watch in self.watches.items():
            watch.hold("racing" if name in racing else None)

    async def run(self, stop: asyncio.Event) -> None:
        """Watch until ``stop`` is set, then let running probes finish briefly."""
        gc.collect()
        gc.freeze()  # what start-up has made stays: walking it again and again would hold up the clock
        self._noise_monitor.start()
        scheduler = Scheduler(list(self.watches.values()), self._first_round(), self._clock, self._note)
        scheduler.start()
        beats = asyncio.create_task(self._beat())
        controls = asyncio.create_task(self._controls.run())
        await stop.wait()
        beats.cancel()
        controls.cancel()
        await scheduler.stop()
        await asyncio.gather(*(watch.stop(GRACE_S) for watch in self.watches.values()), return_exceptions=True)
        self._noise_monitor.stop()

    def _first_round(self) -> Mapping[str, float]:
        """When to begin (seconds since the epoch): at once, one after another, but for those sampled just now."""
        now = self._clock.now()
        stale = [
            one.endpoint
            for name, one in self.watches.items()
            if now - self._began(name) / 1000 >= one.endpoint.interval
        ]
        steps = ((one, min(FIRST_ROUND_STEP_S, one.interval / len(stale))) for one in stale)
        return {one.name: now + index * step for index, (one, step) in enumerate(steps)}

    def _began(self, name: str) -> int:
        """When the newest of an endpoint's samples of before began, ms since the epoch; 0 where there is none."""
        return max((one.started_at for one in self._recent.get(name, ())), default=0)

    def _note(self, words: str) -> None:
        """Say once, in the log, what was done to the schedule, and for a while in the status."""
        log.warning(words)
        self._notice = self._clock.elapsed(), words

    def _noticed(self) -> str | None:
        if self._notice is None or self._clock.elapsed() - self._notice[0] > NOTICE_S:
            return None
        return self._notice[1]

    async def _beat(self) -> None:
        while self._store is not None:
            watches = tuple(watch.status for watch in self.watches.values())
            self._store.beat(RecorderStatus(self.status, watches).to_json())
            await asyncio.sleep(BEAT_S)

    def _is_watching(self, endpoint: Endpoint) -> bool:
        """Whether probes of an endpoint are sent when they are due."""
        status = self.watches[endpoint.name].status
        return not (status.paused or status.no_key)

    async def find_key(self, endpoint: Endpoint) -> Credentials | None:
        """What an endpoint's requests need. Raises KeyMissing."""
        return await self._keys.find(endpoint)

    def spend(self, sample: Sample, endpoint: Endpoint) -> None:
        """Count what a sample of an endpoint cost; keys that were refused are looked for anew."""
        self._ledger = self._ledger.add(sample, endpoint)
        if sample.outcome is Outcome.AUTH:
            self._keys.forget(endpoint)

    def refusal(self, *endpoints: Endpoint) -> str | None:
        """Why these must not be probed now, one probe each; None while there is budget for it."""
        return self._ledger.on(time.time_ns() // 1_000_000).refusal(*map(most, endpoints))

    def reserve(self, endpoint: Endpoint) -> Callable[[], None]:
        """Set aside what a probe that begins may cost; to be called when it has ended, and been counted."""
        aside = most(endpoint)
        self._ledger = self._ledger.reserve(aside)

        def release() -> None:
            self._ledger = self._ledger.release(aside)

        return release

    def _deliver(self, sample: Sample, text: str) -> None:
        """Give a sample to the store, then to all who are told; a defect of one keeps it from no other."""
        for take in (self._keep, self._count, *self._listeners):
            _safely(take)(sample, text)

    def _keep(self, sample: Sample, text: str) -> None:
        if self._store is not None:
            self._store.put(sample, text or None)

    def _count(self, sample: Sample, _: str) -> None:
        endpoint = self.watches[sample.endpoint].endpoint
        self.spend(sample, endpoint)
        self._recent.setdefault(sample.endpoint, deque(maxlen=REMEMBERED)).append(sample)
        self._controls.hear(sample, endpoint, asyncio.get_running_loop().time())


def _safely(tell: Callable[Args, None]) -> Callable[Args, None]:
    """``tell``, but what it raises is logged: the defect of one listener keeps nothing from the others."""

    def told(*args: Args.args, **kwargs: Args.kwargs) -> None:
        try:
            tell(*args, **kwargs)
        except Exception:
            log.exception("a listener failed")

    return told
