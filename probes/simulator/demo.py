"""Demo: the server of ``inftop demo``, and the endpoints that watch it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from probes.endpoint import Endpoint, Timeouts
from probes.preset import socket_dialects
from probes.simulator.behaviour import Behaviour
from probes.simulator.demo_models import DEMO_MODELS, OUTPUT_TOKENS
from probes.simulator.server import Simulator

PROMPT: Final = "Explain in plain words why a language model's first token takes longer than the next ones."

_BELOW: Final[Mapping[str, str]] = {"gemini": "/v1beta", "ollama": ""}
"""What a dialect's base URLs have below the origin, where it is not the usual."""


def demo_models() -> Mapping[str, Behaviour]:
    """What the demo's simulator serves, by model id."""
    return {one.model: one.behaviour for one in DEMO_MODELS}


def demo_endpoints(url: str) -> tuple[Endpoint, ...]:
    """The demo's endpoints, for the simulator whose base URL is ``url``; none takes a key."""
    origin = url.removesuffix("/v1")
    socket_origin, over_socket = f"ws{origin.removeprefix('http')}", socket_dialects()
    return tuple(
        Endpoint(
            name=f"{one.provider}/{one.name}",
            provider=one.provider,
            model=one.model,
            dialect=one.dialect,
            base_url=(socket_origin if one.dialect in over_socket else origin) + _BELOW.get(one.dialect, "/v1"),
            body=one.body or {},
            group=one.group,
            price=one.price,
            interval=one.interval,
            prompt=PROMPT,
            max_output_tokens=OUTPUT_TOKENS,
            timeouts=Timeouts(first_token=10.0, stall=5.0, total=20.0),
        )
        for one in DEMO_MODELS
    )


async def serve_demo(ready: Callable[[str], None], until: asyncio.Event) -> None:
    """Serve the demo's models until ``until`` is set; ``ready`` is called with the base URL once requests are taken."""
    async with Simulator(demo_models(), keep=len(DEMO_MODELS)) as simulator:
        ready(simulator.url)
        await until.wait()
