"""Session: everything an engine needs, opened in order and closed again: endpoints, the recorder's lock, the store."""

import asyncio
import contextlib
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from probes import __version__
from probes.budget import DAY_MS, Budget, Ledger, Spent, midnight, uncounted
from probes.config import HERE, find_config, load
from probes.control import USUAL, ControlPlan
from probes.endpoint import Endpoint
from probes.engine import Engine
from probes.frames import EndpointFacts, Hello
from probes.keyfinder import KeyFinder
from probes.probe import Probed
from probes.simulator.child import simulator_process
from probes.store.journal_folder import journal_folder, samples_for
from probes.store.lock import RecorderLock, StoreHeld
from probes.store.place import default_url, is_postgres, path_of
from probes.store.problem import StoreProblem
from probes.store.reader import StoreReader
from probes.store.retention import FOREVER, Retention
from probes.store.writer import Writer
from probes.watch import Watch

DRAIN_S: Final = 5.0
"""How long the store may take, at the end, to write what is still in memory."""

GUARD_S: Final = 3.0
"""How often a recorder makes sure that it is still the only one of its vantage."""

SWITCH_S: Final = 0.0001
"""How long one thread of an engine may keep another waiting for the interpreter."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to watch and where to keep it, resolved."""

    endpoints: tuple[Endpoint, ...]
    budget: Budget
    store_url: str
    simulated: bool = False
    controls: ControlPlan = USUAL
    retention: Retention = FOREVER
    vantage: str = HERE

    @property
    def journal(self) -> Path:
        """Where samples wait for the store: those of a simulation beside it, for they go when it does."""
        if self.simulated and not is_postgres(self.store_url):
            return path_of(self.store_url).with_name("journal")
        return journal_folder(self.store_url, self.vantage)

    def hello(self, pid: int, holder: str | None = None) -> Hello:
        """The engine's first words to a screen."""
        facts = tuple(EndpointFacts.of(one) for one in self.endpoints)
        return Hello(__version__, pid, self.store_url, self.simulated, facts, holder, self.vantage)


@contextlib.asynccontextmanager
async def open_plan(config: Path | None, *, demo: bool) -> AsyncIterator[Plan]:
    """The plan of a configuration (found where none is named), or of a demo.

    A demo's providers are simulated on this machine, without caps, and its store goes when the demo does. Raises
    ConfigError.
    """
    if not demo:
        read = load(find_config(config))
        url = read.store_url or default_url()
        yield Plan(
            read.endpoints,
            read.budget,
            url,
            controls=read.controls,
            retention=read.retention,
            vantage=read.vantage,
        )
        return
    from probes.simulator.demo import demo_endpoints

    with tempfile.TemporaryDirectory(prefix="inftop-demo-", ignore_cleanup_errors=True) as folder:
        async with simulator_process() as url:
            store_url = f"sqlite:///{Path(folder) / 'history.db'}"
            yield Plan(demo_endpoints(url), Budget(None, None), store_url, simulated=True)


@contextlib.asynccontextmanager
async def open_engine(
    plan: Plan,
    on_change: Callable[[Watch], None] = lambda _: None,
    on_probe: Callable[[Probed], None] = lambda _: None,
    tls: ssl.SSLContext | None = None,
    watching: bool = True,
    on_lost: Callable[[StoreHeld], None] = lambda _: None,
) -> AsyncIterator[Engine]:
    """An engine on a plan, holding its store; what it still holds is written at the end.

    One that is not ``watching`` probes nothing by itself and leaves the store to others: it is there for races.
    Raises StoreHeld where another recorder has the store, or the vantage in a store that many places share; there
    ``on_lost`` is told of one that took it over while we could not reach the store. Any other trouble with the store
    is a state of the engine, not the end of it: probes go on and samples wait.
    """
    # the store's thread may hold the interpreter this long while data waits to be stamped; the default is 5 ms
    sys.setswitchinterval(SWITCH_S)
    async with _alone(plan, on_lost) if watching else contextlib.nullcontext():
        ledger, recent = await asyncio.to_thread(_past, plan)
        writer = _writer(plan) if watching else None
        try:
            yield Engine(
                plan.endpoints if watching else (),
                ledger,
                store=writer,
                keys=KeyFinder(),
                vantage=plan.vantage,
                recent=recent,
                on_change=on_change,
                on_probe=on_probe,
                tls=tls,
                controls=plan.controls,
            )
        finally:
            if writer is not None:
                await writer.close(DRAIN_S)


def _writer(plan: Plan) -> Writer:
    return Writer(plan.store_url, vantage=plan.vantage, retention=plan.retention, journal=plan.journal)


@contextlib.asynccontextmanager
async def _alone(plan: Plan, on_lost: Callable[[StoreHeld], None]) -> AsyncIterator[None]:
    """Be the only recorder. Where no lock can be made the writer will say what is wrong."""
    far = is_postgres(plan.store_url)
    beside = plan.journal / "recorder" if far else path_of(plan.store_url)
    with contextlib.ExitStack() as held:
        with contextlib.suppress(StoreProblem):
            held.enter_context(RecorderLock(beside))  # on this machine, even while the database is away
        if not far:
            yield
            return
        from probes.store.vantage_lock import VantageLock  # its driver is an extra

        lock = VantageLock(plan.store_url, plan.vantage)
        held.callback(lock.close)
        with contextlib.suppress(StoreProblem):
            await asyncio.to_thread(lock.check)
        guard = asyncio.create_task(_guard(lock.check, on_lost), name="vantage guard")
        try:
            yield
        finally:
            guard.cancel()


async def _guard(check: Callable[[], None], on_lost: Callable[[StoreHeld], None]) -> None:
    """Hold a vantage's lock through outages of its database, until another has it."""
    while True:
        await asyncio.sleep(GUARD_S)
        try:
            await asyncio.to_thread(check)
        except StoreProblem:  # nobody else can take it now where we cannot be heard
            continue
        except StoreHeld as held:
            on_lost(held)
            return


def _past(plan: Plan) -> tuple[Ledger, Mapping[str, int]]:
    """What today has cost here so far, and when each endpoint was last sampled.

    Samples that still wait for the store count too; of a store that is silent nothing is known.
    """
    now = time.time_ns() // 1_000_000
    since = midnight(now)
    endpoints = {one.name: one for one in plan.endpoints}
    spent, recent = Spent(0.0, 0), {}
    with contextlib.suppress(StoreProblem), contextlib.closing(StoreReader(plan.store_url)) as reader:
        usd, tokens = reader.spent(since, plan.vantage)
        for name, output_tokens, samples in reader.estimated(since, plan.vantage):
            if name in endpoints:
                more = uncounted(endpoints[name], output_tokens)
                usd, tokens = usd + samples * more.usd, tokens + samples * more.tokens
        spent = Spent(usd, tokens)
        recent = {name: one.started_at for name, one in reader.latest(plan.vantage).items()}
    ledger = Ledger(plan.budget, now // DAY_MS, spent.usd, spent.tokens)
    for sample in samples_for(plan.store_url, plan.vantage):
        if endpoint := endpoints.get(sample.endpoint):
            recent[sample.endpoint] = max(sample.started_at, recent.get(sample.endpoint, 0))
            if since <= sample.started_at < since + DAY_MS:
                ledger = ledger.add(sample, endpoint)
    return ledger, recent
