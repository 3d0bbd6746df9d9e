"""``record``: the engine without a screen, one line per sample, a table at the end."""

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

from probes.cli.output.sample_lines import EndpointTally, closing_table, sample_line
from probes.cli.output.store_report import StoreReport, unstored
from probes.engine.engine import Engine
from probes.engine.session import Plan, open_engine, open_plan
from probes.metrics.publishing import Publishing
from probes.sample import Sample
from probes.signals import stop_on_signals
from probes.sockets import event_loop as loop
from probes.store.holder import StoreHeld
from probes.store.location import is_postgres, shown
from probes.store.problem import StoreProblem
from probes.store.status import WAITED_LONG_S
from probes.store.write.lease import Heartbeat

STAND_BY_S: Final = 2.0
"""How often one who stands by asks whether the vantage is free."""

LOOK_S: Final = 1.0
"""How often the store's state is looked at, s."""


def record(
    config: Path | None, *, demo: bool, seconds: float | None, outlets: Publishing, need_store: bool = False
) -> None:
    """Record until stopped, or for so long, and publish metrics where they are wished.

    While another recorder has the vantage of a store that places share, stand by and take over when it ends. While the
    store cannot be used samples wait, which is said; where it is needed, that is the end.

    Raises ConfigError, StoreHeld where another recorder has a store of this machine, OSError where another has the
    address, and StoreProblem: before anything is probed where the store will not take samples, or is needed and cannot;
    later where samples have waited for `WAITED_LONG_S` for one that is needed, and where any is not stored in the end.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    loop.run(_record(config, demo=demo, seconds=seconds, outlets=outlets, need_store=need_store))


async def _record(
    config: Path | None, *, demo: bool, seconds: float | None, outlets: Publishing, need_store: bool = False
) -> None:
    stop = asyncio.Event()
    note = _printer(sys.stderr)
    with stop_on_signals(stop):
        async with open_plan(config, demo=demo) as plan:
            told, heartbeat = "", Heartbeat()
            while not stop.is_set():
                try:
                    await _record_alone(plan, stop, heartbeat, seconds, outlets, note, need_store=need_store)
                    break
                except StoreHeld as held:
                    if not is_postgres(plan.store_url):
                        raise
                    if (news := f"standing by for {plan.vantage}: {held}") != told:
                        told = news
                        note(news)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), STAND_BY_S)


async def _record_alone(
    plan: Plan,
    stop: asyncio.Event,
    heartbeat: Heartbeat,
    seconds: float | None,
    outlets: Publishing,
    note: Callable[[str], None],
    *,
    need_store: bool,
) -> None:
    """Record until stopped, which ``seconds`` do too.

    Raises StoreHeld where another recorder does, or comes to; StoreProblem as `record` says.
    """
    reasons: list[StoreHeld | StoreProblem] = []
    ended = asyncio.Event()

    def end(reason: StoreHeld | StoreProblem) -> None:
        reasons.append(reason)
        ended.set()

    stopping = asyncio.create_task(_pass_on(stop, ended))
    try:
        opening = open_engine(plan, on_lost=end, stop=stop, heartbeat=heartbeat)
        async with opening as engine, outlets.open(engine):
            problem = await _problem_at_first(engine, ended)
            if problem is not None and not reasons and (problem.lasting or need_store):
                raise StoreProblem(problem.state, f"{shown(plan.store_url)} takes no samples: {problem.detail}")
            note(f"recording {len(engine.monitors)} endpoints into {shown(plan.store_url)}")
            if seconds is not None:
                asyncio.get_running_loop().call_later(seconds, stop.set)
            looking = asyncio.create_task(_report(engine, note, end if need_store else None))
            await _print_samples(engine, ended)
            looking.cancel()
    finally:
        stopping.cancel()
    left = unstored(engine.status.store, plan.journal)
    if reasons:
        if left:
            note(left)
        raise reasons[0]
    if left:
        raise StoreProblem("failed", left)


async def _problem_at_first(engine: Engine, ended: asyncio.Event) -> StoreProblem | None:
    """Wait until the store was tried, or until the end; what is wrong with it, None where nothing is known to be."""
    opening, ending = asyncio.create_task(engine.store_opened()), asyncio.create_task(ended.wait())
    await asyncio.wait({opening, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if opening.done():
        return opening.result()
    opening.cancel()
    return None


async def _report(engine: Engine, note: Callable[[str], None], end: Callable[[StoreProblem], None] | None) -> None:
    """Say how the store is whenever there is something to say; ``end`` it all where samples have waited too long."""
    report = StoreReport()
    while True:
        store, now_ms = engine.status.store, time.time_ns() // 1_000_000
        if words := report.hear(store, now_ms, time.monotonic()):
            note(words)
        if end is not None and store.waited_s(now_ms) > WAITED_LONG_S:
            end(StoreProblem("failed", f"samples have waited for {WAITED_LONG_S:.0f} s, and the store is needed"))
            return
        await asyncio.sleep(LOOK_S)


async def _print_samples(engine: Engine, ended: asyncio.Event) -> None:
    """Run the engine until the end and print what it samples."""
    tallies = {name: EndpointTally() for name in engine.monitors}
    say = _printer(sys.stdout)
    width = max(map(len, engine.monitors), default=8)

    def take(sample: Sample, _: str) -> None:
        tallies[sample.endpoint].add(sample)
        say(sample_line(sample, width))

    engine.on_sample(take)
    await engine.run(ended)
    say("")
    for line in closing_table(tallies):
        say(line)


async def _pass_on(one: asyncio.Event, other: asyncio.Event) -> None:
    await one.wait()
    other.set()


def _printer(stream: TextIO) -> Callable[[str], None]:
    """Prints lines until the stream goes away; the recording goes on without it."""
    gone = False

    def say(line: str) -> None:
        nonlocal gone
        if not gone:
            try:
                print(line, file=stream, flush=True)
            except OSError as error:
                gone = True
                if stream is sys.stdout:
                    print(f"no more lines ({error.strerror}): the recording goes on", file=sys.stderr)  # noqa: T201

    return say
