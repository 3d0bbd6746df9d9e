"""``record``: the engine without a screen, one line per sample, a table at the end."""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from probes import loop
from probes.lines import Tally, closing_table, sample_line
from probes.metrics.publishing import Publishing
from probes.sample import Sample
from probes.session import Plan, open_engine, open_plan
from probes.signals import stop_on_signals
from probes.store.lock import StoreHeld
from probes.store.place import is_postgres, shown

STAND_BY_S: Final = 2.0
"""How often one who stands by asks whether the vantage is free."""


def record(config: Path | None, *, demo: bool, seconds: float | None, outlets: Publishing) -> None:
    """Record until stopped, or for so long, and publish metrics where they are wished.

    While another recorder has the vantage of a store that places share, stand by and take over when it ends. Raises
    ConfigError, StoreHeld where another recorder has a store of this machine, OSError where another has the address.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    loop.run(_record(config, demo=demo, seconds=seconds, outlets=outlets))


async def _record(config: Path | None, *, demo: bool, seconds: float | None, outlets: Publishing) -> None:
    stop = asyncio.Event()
    with stop_on_signals(stop):
        async with open_plan(config, demo=demo) as plan:
            told = ""
            while not stop.is_set():
                try:
                    await _record_alone(plan, stop, seconds, outlets)
                    break
                except StoreHeld as held:
                    if not is_postgres(plan.store_url):
                        raise
                    if (news := f"standing by for {plan.vantage}: {held}") != told:
                        told = news
                        _note(news)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), STAND_BY_S)


async def _record_alone(plan: Plan, stop: asyncio.Event, seconds: float | None, outlets: Publishing) -> None:
    """Record until stopped, which ``seconds`` do too; raises StoreHeld where another recorder does, or comes to."""
    taken: list[StoreHeld] = []
    ended = asyncio.Event()

    def give_way(held: StoreHeld) -> None:
        taken.append(held)
        ended.set()

    async with open_engine(plan, on_lost=give_way) as engine, outlets.open(engine):
        watched = list(engine.watches)
        _note(f"recording {len(watched)} endpoints into {shown(plan.store_url)}")
        tallies = {name: Tally() for name in watched}
        say = _printer()
        width = max(map(len, watched), default=8)

        def take(sample: Sample, _: str) -> None:
            tallies[sample.endpoint].add(sample)
            say(sample_line(sample, width))

        engine.listen(take)
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, stop.set)
        stopping = asyncio.create_task(_pass_on(stop, ended))
        await engine.run(ended)
        stopping.cancel()
        say("")
        for line in closing_table(tallies):
            say(line)
    if taken:
        raise taken[0]


async def _pass_on(one: asyncio.Event, other: asyncio.Event) -> None:
    await one.wait()
    other.set()


def _note(words: str) -> None:
    print(words, file=sys.stderr, flush=True)  # noqa: T201


def _printer() -> Callable[[str], None]:
    """Prints lines until standard output goes away; the recording goes on without it."""
    gone = False

    def say(line: str) -> None:
        nonlocal gone
        if not gone:
            try:
                print(line, flush=True)  # noqa: T201
            except (OSError, ValueError):
                gone = True

    return say
