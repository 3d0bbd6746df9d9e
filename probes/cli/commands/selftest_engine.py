"""``measure``: the engine of a selftest, in a process of its own; writes what it observed to a file at the end.

The file exists as soon as the engine has begun.
"""

import asyncio
import dataclasses
import json
import logging
from pathlib import Path

from probes.budget.cap import Budget
from probes.cli.commands.run import serve
from probes.engine.session import Plan
from probes.measure.probe import ProbeResult
from probes.selftest.anonymous_tls import anonymous_context
from probes.selftest.load import Stage
from probes.selftest.observation import Observation
from probes.signals import stop_on_signals
from probes.sockets import event_loop


def measure(stage: Path) -> None:
    """Serve a screen as ``run`` does, and record an observation of every probe."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    told = Stage.read(stage)
    Path(told.seen).touch()
    seen = event_loop.run(_measure(told))
    Path(told.seen).write_text("".join(json.dumps(dataclasses.asdict(one)) + "\n" for one in seen), encoding="utf-8")


async def _measure(stage: Stage) -> list[Observation]:
    endpoints = stage.load.endpoints(stage.plain_url, stage.tls_url)
    over_tls = {one.name for one in endpoints if one.base_url.startswith("https:")}
    seen: list[Observation] = []

    reader = event_loop.reader_kind(asyncio.get_running_loop()).value

    def see(probed: ProbeResult) -> None:
        seen.append(Observation.of(probed, tls=probed.sample.endpoint in over_tls, reader=reader))

    plan = Plan(endpoints, Budget(None, None), stage.store_url, simulated=True)
    stop = asyncio.Event()
    with stop_on_signals(stop):
        await serve(plan, stop, tls=anonymous_context(server=False), on_result=see)
    return seen
