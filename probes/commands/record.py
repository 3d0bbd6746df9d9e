"""``record``: the engine without a screen, one line per sample, a table at the end."""

import asyncio
import logging
import sys
from collections.abc import Callable
from pathlib import Path

from probes import loop
from probes.lines import Tally, closing_table, sample_line
from probes.metrics.publishing import Publishing
from probes.sample import Sample
from probes.session import open_engine, open_plan
from probes.signals import stop_on_signals
from probes.store.place import shown


def record(config: Path | None, *, demo: bool, seconds: float | None, outlets: Publishing) -> None:
    """Record until stopped, or for so long, and publish metrics where they are wished.

    Raises ConfigError, StoreHeld where another recorder has the store, OSError where another has the address.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    loop.run(_record(config, demo=demo, seconds=seconds, outlets=outlets))


async def _record(config: Path | None, *, demo: bool, seconds: float | None, outlets: Publishing) -> None:
    stop = asyncio.Event()
    with stop_on_signals(stop):
        async with open_plan(config, demo=demo) as plan, open_engine(plan) as engine, outlets.open(engine):
            watched = list(engine.watches)
            print(f"recording {len(watched)} endpoints into {shown(plan.store_url)}", file=sys.stderr)  # noqa: T201
            tallies = {name: Tally() for name in watched}
            say = _printer()
            width = max(map(len, watched), default=8)

            def take(sample: Sample, _: str) -> None:
                tallies[sample.endpoint].add(sample)
                say(sample_line(sample, width))

            engine.listen(take)
            if seconds is not None:
                asyncio.get_running_loop().call_later(seconds, stop.set)
            await engine.run(stop)
            say("")
            for line in closing_table(tallies):
                say(line)


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
