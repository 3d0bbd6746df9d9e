"""The simulated models of ``inftop demo``, the server that serves them, and the endpoints that probe it.

The models run at public headline speeds, each in the dialect of its provider. Speeds are the vendors' own claims,
captured rates or typical ones, prices those of public lists where they are plain. Incidents recur within minutes, not
days, so that a viewer sees them; with the intervals as they are no probe overlaps the next.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from probes.config.presets import Preset, presets
from probes.endpoint import Endpoint, Timeouts, merged
from probes.simulator.behaviour import Behaviour
from probes.simulator.demo.fast import FAST
from probes.simulator.demo.local import LOCAL
from probes.simulator.demo.model import OUTPUT_TOKENS, DemoModel
from probes.simulator.demo.proprietary import PROPRIETARY
from probes.simulator.demo.unreliable import UNRELIABLE
from probes.simulator.server import Simulator

DEMO_MODELS: Final = (*FAST, *PROPRIETARY, *UNRELIABLE, *LOCAL)

PROMPT: Final = "Explain in plain words why a language model's first token takes longer than the next ones."


def demo_models() -> Mapping[str, Behaviour]:
    """The behaviours that the demo's simulator serves, by model id."""
    return {one.model: one.behaviour for one in DEMO_MODELS}


def demo_endpoints(url: str) -> tuple[Endpoint, ...]:
    """The demo's endpoints, for the simulator whose base URL is ``url``; none needs a key."""
    return tuple(_endpoint(one, presets()[one.provider], urlsplit(url).netloc) for one in DEMO_MODELS)


def _endpoint(one: DemoModel, preset: Preset, place: str) -> Endpoint:
    """The endpoint of a demo model: that of its preset, but at ``place``, which is ``host:port``."""
    shipped = urlsplit(preset.base_url)
    return Endpoint(
        name=one.name,
        provider=one.provider,
        model=one.model,
        dialect=preset.dialect,
        base_url=f"{shipped.scheme.removesuffix('s')}://{place}{shipped.path}",
        body=merged(preset.body, one.body or {}),
        quirks=preset.quirks,
        group=one.group,
        connection=one.connection,
        price=one.price,
        interval=one.interval,
        prompt=PROMPT,
        max_output_tokens=OUTPUT_TOKENS,
        timeouts=Timeouts(first_token=10.0, stall=5.0, total=20.0),
    )


async def serve_demo(ready: Callable[[str], None], until: asyncio.Event) -> None:
    """Serve the demo's models until ``until`` is set; ``ready`` is called with the base URL once it listens."""
    async with Simulator(demo_models(), keep=len(DEMO_MODELS)) as simulator:
        ready(simulator.url)
        await until.wait()
