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
from probes.budget import Budget, Ledger, midnight
from probes.config import find_config, load
from probes.control import USUAL, ControlPlan
from probes.endpoint import Endpoint
from probes.engine import Engine
from probes.frames import EndpointFacts, Hello
from probes.keyfinder import KeyFinder
from probes.probe import Probed
from probes.simulator.child import simulator_process
from probes.store.lock import RecorderLock
from probes.store.place import default_url, path_of
from probes.store.problem import StoreProblem
from probes.store.reader import StoreReader
from probes.store.writer import Writer
from probes.watch import Watch

DRAIN_S: Final = 5.0
"""How long the store may take, at the end, to write what is still in memory."""

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

    def hello(self, pid: int, holder: str | None = None) -> Hello:
        """The engine's first words to a screen."""
        facts = tuple(EndpointFacts.of(one) for one in self.endpoints)
        return Hello(__version__, pid, self.store_url, self.simulated, facts, holder)


@contextlib.asynccontextmanager
async def open_plan(config: Path | None, *, demo: bool) -> AsyncIterator[Plan]:
    """The plan of a configuration (found where none is named), or of a demo.

    A demo's providers are simulated on this machine, without caps, and its store goes when the demo does. Raises
    ConfigError.
    """
    if not demo:
        read = load(find_config(config))
        yield Plan(read.endpoints, read.budget, read.store_url or default_url(), controls=read.controls)
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
) -> AsyncIterator[Engine]:
    """An engine on a plan, holding its store; what it still holds is written at the end.

    One that is not ``watching`` probes nothing by itself and leaves the store to others: it is there for races.
    Raises StoreHeld where another recorder has the store. Any other trouble with the store is a state of the
    engine, not the end of it: probes go on and samples wait in memory.
    """
    # the store's thread may hold the interpreter this long while data waits to be stamped; the default is 5 ms
    sys.setswitchinterval(SWITCH_S)
    with contextlib.ExitStack() as held:
        with contextlib.suppress(StoreProblem):  # no lock can be made there; the writer will say what is wrong
            if watching:
                held.enter_context(RecorderLock(path_of(plan.store_url)))
        writer = Writer(plan.store_url) if watching else None
        spent, recent = await asyncio.to_thread(_past, plan.store_url)
        now = time.time_ns() // 1_000_000
        ledger = Ledger(plan.budget, now // 86_400_000, usd=spent[0], tokens=spent[1])
        try:
            yield Engine(
                plan.endpoints if watching else (),
                ledger,
                store=writer,
                keys=KeyFinder(),
                recent=recent,
                on_change=on_change,
                on_probe=on_probe,
                tls=tls,
                controls=plan.controls,
            )
        finally:
            if writer is not None:
                await writer.close(DRAIN_S)


def _past(store_url: str) -> tuple[tuple[float, int], Mapping[str, int]]:
    """What today has cost so far, and when each endpoint was last sampled; nothing where the store does not say."""
    try:
        with contextlib.closing(StoreReader(store_url)) as reader:
            spent = reader.spent(midnight(time.time_ns() // 1_000_000))
            return (spent.usd, spent.tokens), {name: one.started_at for name, one in reader.latest().items()}
    except StoreProblem:
        return (0.0, 0), {}
