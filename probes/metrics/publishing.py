"""Publishing: where a recorder's metrics go, as wished on the command line, and how they are kept going there."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, Self

from probes.engine.engine import Engine
from probes.metrics.address import Address, parse_address, parse_collector, shown
from probes.metrics.tallies import Tallies

ASK_S: Final = 1.0
"""How often the engine is asked how it is."""


@dataclass(frozen=True, slots=True)
class Publishing:
    """The wished outlets; None is not wished."""

    address: Address | None = None
    collector: str | None = None

    @classmethod
    def of(cls, metrics: str | None, otlp: str | None) -> Self:
        """From the options. Raises ValueError, also where the extra that one needs is not installed."""
        if otlp is not None and (find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None):
            raise ValueError("--otlp needs an extra: pip install 'inftop[otlp]'")
        address = None if metrics is None else parse_address(metrics)
        return cls(address, None if otlp is None else parse_collector(otlp))

    @asynccontextmanager
    async def open(self, engine: Engine) -> AsyncIterator[None]:
        """Publish what this engine samples until the block is left. Raises OSError where the address cannot be had."""
        if self == Publishing():
            yield
            return
        tallies = Tallies(one.endpoint for one in engine.monitors.values())
        engine.on_sample(tallies.take)
        with ExitStack() as held:
            if self.address is not None:
                from probes.metrics.server import serving

                address = held.enter_context(serving(self.address, tallies))
                print(f"metrics at http://{address}/metrics", file=sys.stderr)  # noqa: T201
            if self.collector is not None:
                from probes.metrics.otlp import pushing

                held.enter_context(pushing(self.collector, tallies))
                print(f"metrics go to {shown(self.collector)}", file=sys.stderr)  # noqa: T201
            asking = asyncio.create_task(_ask(engine, tallies))
            try:
                yield
            finally:
                asking.cancel()


async def _ask(engine: Engine, tallies: Tallies) -> None:
    while True:
        tallies.hear(engine.status)
        await asyncio.sleep(ASK_S)
