"""``run``: the engine as a screen's child: frames on standard output, commands on standard input."""

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from pathlib import Path

from probes import loop
from probes.engine import Engine
from probes.feed import Feed, read_commands
from probes.frames import EngineStatus, StoreStatus
from probes.probe import Probed
from probes.session import Plan, open_engine, open_plan
from probes.signals import stop_on_signals
from probes.store.lock import StoreHeld


def run(config: Path | None, *, demo: bool) -> None:
    """Serve one screen until it goes away. Raises ConfigError."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    loop.run(_run(config, demo=demo))


async def _run(config: Path | None, *, demo: bool) -> None:
    stop = asyncio.Event()
    with stop_on_signals(stop):
        async with open_plan(config, demo=demo) as plan:
            await serve(plan, stop)


async def serve(
    plan: Plan,
    stop: asyncio.Event,
    *,
    tls: ssl.SSLContext | None = None,
    on_probe: Callable[[Probed], None] = lambda _: None,
) -> None:
    """Run an engine on a plan until ``stop`` is set or the screen has gone; the rest as for `probes.engine.Engine`."""
    engines: list[Engine] = []

    def status() -> EngineStatus:
        return engines[0].status if engines else EngineStatus(StoreStatus())

    # unbuffered: see Feed
    with os.fdopen(1, "wb", buffering=0, closefd=False) as out:
        feed = Feed(out, status)
        try:
            async with open_engine(
                plan, on_change=lambda watch: feed.watch(watch.status), on_probe=on_probe, tls=tls
            ) as engine:
                engines.append(engine)
                engine.listen(feed.sample)
                feed.hello(plan.hello(os.getpid()))
                for watch in engine.watches.values():
                    feed.watch(watch.status)
                read_commands(os.fdopen(0, "rb", buffering=0, closefd=False), engine.obey, stop.set)
                await engine.run(stop)
        except StoreHeld as held:
            feed.hello(plan.hello(os.getpid(), holder=str(held.holder or "another recorder")))
        finally:
            feed.close()
