"""``run``: the engine as a screen's child: frames on standard output, commands on standard input."""

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from pathlib import Path

from probes.engine.engine import Engine
from probes.engine.race.service import RaceService
from probes.engine.session import Plan, open_engine, open_plan
from probes.feed.messages import Command, EngineStatus
from probes.feed.pipe import Feed, read_commands
from probes.measure.probe import ProbeResult
from probes.race.race import Race
from probes.race.updates import RaceCommand
from probes.signals import stop_on_signals
from probes.sockets import event_loop as loop
from probes.store.holder import StoreHeld
from probes.store.problem import StoreProblem
from probes.store.races import keep as keep_race
from probes.store.status import StoreStatus

log = logging.getLogger(__name__)


def run(config: Path | None, *, demo: bool, watching: bool) -> None:
    """Serve one screen until it goes away; only races are run for it where it is not ``watching``.

    Raises ConfigError.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    loop.run(_run(config, demo=demo, watching=watching))


async def _run(config: Path | None, *, demo: bool, watching: bool) -> None:
    stop = asyncio.Event()
    with stop_on_signals(stop):
        async with open_plan(config, demo=demo) as plan:
            await serve(plan, stop, watching=watching)


async def serve(
    plan: Plan,
    stop: asyncio.Event,
    *,
    tls: ssl.SSLContext | None = None,
    on_probe: Callable[[ProbeResult], None] = lambda _: None,
    watching: bool = True,
) -> None:
    """Run an engine on a plan until ``stop`` is set or the screen has gone; the rest as for `Engine`."""
    engines: list[Engine] = []
    courses: list[RaceService] = []

    def status() -> EngineStatus:
        return engines[0].status if engines else EngineStatus(StoreStatus())

    # unbuffered: see Feed
    with os.fdopen(1, "wb", buffering=0, closefd=False) as out:
        feed = Feed(out, status, lambda: courses[0].news() if courses else None)

        async def keep(race: Race) -> int | None:
            return await asyncio.to_thread(_keep, plan.store_url, race)

        commands = _Commands()
        read_commands(os.fdopen(0, "rb", buffering=0, closefd=False), commands.take, stop.set)
        try:
            async with open_engine(
                plan,
                on_change=lambda watch: feed.watch(watch.status),
                on_probe=on_probe,
                tls=tls,
                watching=watching,
                on_lost=lambda _: stop.set(),  # whoever started us starts another, which finds who has it
                stop=stop,
            ) as engine:
                engines.append(engine)
                course = RaceService(
                    plan.endpoints,
                    engine,
                    keep=keep,
                    changed=feed.race,
                    simulated=plan.simulated,
                    vantage=plan.vantage,
                )
                courses.append(course)
                engine.listen(feed.sample)
                engine.listen(course.hear)
                feed.hello(plan.hello(os.getpid()))
                for watch in engine.watches.values():
                    feed.watch(watch.status)
                commands.serve(engine, course)
                await engine.run(stop)
                await course.close()
        except StoreHeld as held:
            feed.hello(plan.hello(os.getpid(), holder=str(held.holder or "another recorder")))
        finally:
            feed.close()


class _Commands:
    """Passes commands on; those that come while the store is not ours yet wait for the engine."""

    def __init__(self) -> None:
        self._early: list[Command | RaceCommand] = []
        self._served: tuple[Engine, RaceService] | None = None

    def take(self, command: Command | RaceCommand) -> None:
        """Pass a command to the engine, or to its races."""
        if self._served is None:
            self._early.append(command)
            return
        engine, course = self._served
        if isinstance(command, RaceCommand):
            course.obey(command)
        else:
            engine.obey(command)

    def serve(self, engine: Engine, course: RaceService) -> None:
        """Pass all of them to these from now on."""
        self._served = engine, course
        for command in self._early:
            self.take(command)


def _keep(url: str, race: Race) -> int | None:
    """Store a race; its number, or None where the store does not take it, which is said and no more."""
    try:
        return keep_race(url, race)
    except StoreProblem as problem:
        log.warning("the race is not kept: %s", problem.detail)
        return None
