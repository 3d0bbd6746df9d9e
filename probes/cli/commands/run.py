"""``run``: the engine as a screen's child: frames on standard output, commands on standard input."""

import asyncio
import logging
import os
import ssl
from collections.abc import Callable, Iterable
from pathlib import Path

from probes.endpoint import Endpoint
from probes.engine.engine import Engine
from probes.engine.race.service import RaceService, store_race
from probes.engine.reload import Reload, reloading
from probes.engine.session import Plan, open_engine, open_plan
from probes.feed.messages import Command, EndpointFacts, EngineStatus
from probes.feed.pipe import FeedWriter, read_commands
from probes.measure.curl import curl
from probes.measure.probe import ProbeResult
from probes.measure.prompt import nonce
from probes.race.race import Race
from probes.race.updates import RaceCommand
from probes.signals import stop_on_signals
from probes.sockets import event_loop
from probes.store.holder import StoreHeld
from probes.store.status import StoreStatus
from probes.text import line


def run(config: Path | None, *, demo: bool, watching: bool) -> None:
    """Serve one screen until it goes away; only races are run for it where it is not ``watching``.

    Raises ConfigError.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    event_loop.run(_run(config, demo=demo, watching=watching))


async def _run(config: Path | None, *, demo: bool, watching: bool) -> None:
    stop = asyncio.Event()
    with stop_on_signals(stop):
        async with open_plan(config, demo=demo, with_keys=watching) as plan:
            await serve(plan, stop, named=config, watching=watching)


async def serve(
    plan: Plan,
    stop: asyncio.Event,
    *,
    named: Path | None = None,
    tls: ssl.SSLContext | None = None,
    on_result: Callable[[ProbeResult], None] | None = None,
    watching: bool = True,
) -> None:
    """Run an engine on a plan until ``stop`` is set or the screen has gone; ``on_result`` gets all that probes bring.

    ``named`` is the configuration's path where the command line names one: the file is followed. ``tls`` is whom to
    trust where an endpoint says nothing. Not ``watching``, it only runs races for the screen.
    """
    engines: list[Engine] = []
    race_services: list[RaceService] = []
    reloads: list[Reload] = []

    def status() -> EngineStatus:
        return engines[0].status if engines else EngineStatus(StoreStatus())

    # unbuffered: a buffer held by a thread that waits for a dead screen would hang the exit
    with os.fdopen(1, "wb", buffering=0, closefd=False) as out:
        feed = FeedWriter(
            out,
            status,
            lambda: race_services[0].news() if race_services else None,
            lambda: reloads[0].status if reloads else None,
        )

        async def store(race: Race) -> int | None:
            return await asyncio.to_thread(store_race, plan.store_url, race)

        def reloaded(reload: Reload) -> None:
            race_services[0].reconfigure(reload.endpoints)
            feed.set_endpoints(tuple(map(EndpointFacts.of, reload.endpoints)))

        commands = _CommandRouter(
            lambda name: _write_curl(reloads[0].endpoints if reloads else plan.endpoints, feed, name)
        )
        read_commands(os.fdopen(0, "rb", buffering=0, closefd=False), commands.route, stop.set)
        try:
            async with open_engine(
                plan,
                tls=tls,
                watching=watching,
                on_lost=lambda _: stop.set(),  # the screen starts another engine, which finds who holds the lease
                stop=stop,
            ) as engine:
                engines.append(engine)
                races = RaceService(
                    plan.endpoints,
                    engine,
                    store_race=store,
                    on_change=feed.add_race_news,
                    simulated=plan.simulated,
                    vantage=plan.vantage,
                )
                race_services.append(races)
                engine.on_sample(feed.add_sample)
                engine.on_sample(races.learn_from)
                engine.on_status(feed.add_status)
                if on_result is not None:
                    engine.on_result(on_result)
                feed.write_hello(plan.hello(os.getpid()))
                for monitor in engine.monitors.values():
                    feed.add_status(monitor.status)
                commands.connect(engine, races)
                with reloading(named, plan, engine, reloaded, watching=watching, with_keys=watching) as reload:
                    reloads.extend([reload] if reload is not None else [])
                    await engine.run(stop)
                await races.close()
        except StoreHeld as held:
            feed.write_hello(plan.hello(os.getpid(), holder=str(held.holder or "another recorder")))
        finally:
            feed.close()


def _write_curl(endpoints: Iterable[Endpoint], feed: FeedWriter, name: str | None) -> None:
    """Have the curl command of an endpoint's probe written, or why there is none: as a comment of the shell."""
    for endpoint in endpoints:
        if endpoint.name == name:
            try:
                feed.add_curl(endpoint.name, curl(endpoint, nonce()))
            except ValueError as error:
                feed.add_curl(endpoint.name, f"# {line(str(error), 200)}")


class _CommandRouter:
    """Routes commands to the engine or its races; those that come while the store is not ours yet wait for them."""

    def __init__(self, on_curl: Callable[[str | None], None]) -> None:
        self._on_curl = on_curl
        self._early: list[Command | RaceCommand] = []
        self._connected: tuple[Engine, RaceService] | None = None

    def route(self, command: Command | RaceCommand) -> None:
        """Pass a command to the engine, or to its races."""
        if isinstance(command, Command) and command.do == "curl":
            self._on_curl(command.endpoint)
            return
        if self._connected is None:
            self._early.append(command)
            return
        engine, races = self._connected
        if isinstance(command, RaceCommand):
            races.handle(command)
        else:
            engine.handle(command)

    def connect(self, engine: Engine, races: RaceService) -> None:
        """Route commands to these from now on, the waiting ones first."""
        self._connected = engine, races
        for command in self._early:
            self.route(command)
