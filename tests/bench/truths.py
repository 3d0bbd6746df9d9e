"""A ground-truth server in a process of its own, for benchmarks."""

import asyncio
import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection

from probes.selftest.load import Load
from probes.selftest.truth import Truth
from probes.simulator.server import Simulator


def _serve(loads: Sequence[Load], pipe: Connection) -> None:
    async def go() -> None:
        async with Simulator(
            {name: one for load in loads for name, one in load.models().items()}, keep=100_000
        ) as served:
            pipe.send(served.url)
            await asyncio.to_thread(pipe.recv)
            pipe.send([Truth.of(record) for record in served.records if record.end == "complete"])

    asyncio.run(go())


@contextmanager
def truth_server(loads: Sequence[Load], told: list[Truth] | None = None) -> Iterator[str]:
    """The address of a server of these loads; at the end ``told`` is given what it knows of every answer."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(loads, there), daemon=True)
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        here.send("enough")
        truths = here.recv()
        process.join()
        if told is not None:
            told.extend(truths)
