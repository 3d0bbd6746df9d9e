"""Truth: the ground-truth server of a selftest, a process of its own that knows when it wrote every event."""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any, Final

from probes.selftest.anonymous_tls import context
from probes.selftest.load import LOADS
from probes.simulator.record import Record
from probes.simulator.server import Simulator

RECORDS_KEPT: Final = 100_000


@dataclass(frozen=True, slots=True)
class Truth:
    """What the server knows of one answer; instants are monotonic ns.

    ``at`` and ``until`` are one for each output event: just before its write, and when that had returned.
    """

    model: str
    read_ns: int
    at: tuple[int, ...]
    until: tuple[int, ...]
    tokens: int

    @classmethod
    def of(cls, record: Record) -> "Truth":
        """The truth in a simulator's record."""
        outputs = record.outputs
        at, until = tuple(one.at_ns for one in outputs), tuple(one.until_ns for one in outputs)
        return cls(record.model, record.read_ns, at, until, sum(one.tokens for one in outputs))

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Truth":
        """The truth of a line that `tell` wrote."""
        return cls(**{**values, "at": tuple(values["at"]), "until": tuple(values["until"])})


def tell() -> None:
    """Serve until standard input ends: two addresses first, one a line, then each finished answer as a line of JSON.

    Without anonymous TLS both addresses are the plain one.
    """
    asyncio.run(_tell())


async def _tell() -> None:
    models = {name: one for load in LOADS for name, one in load.models().items()}
    secure = context(server=True)
    async with AsyncExitStack() as stack:
        plain = await stack.enter_async_context(Simulator(models, keep=RECORDS_KEPT))
        servers = [plain]
        if secure is not None:
            servers.append(await stack.enter_async_context(Simulator(models, keep=RECORDS_KEPT, ssl_context=secure)))
        for one in (servers[0], servers[-1]):
            print(one.url, flush=True)  # noqa: T201  # the parent reads it
        await asyncio.to_thread(_until_parent_has_enough)
        for one in servers:
            for record in one.records:
                if record.end == "complete":
                    sys.stdout.write(json.dumps(asdict(Truth.of(record))) + "\n")
    sys.stdout.flush()


def _until_parent_has_enough() -> None:
    while os.read(0, 4096):
        pass
