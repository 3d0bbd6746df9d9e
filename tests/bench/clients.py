"""What reading an event costs: inftop's engine, httpx with httpx-sse, and a floor, from one server, by turns.

    python -m tests.bench.clients [--turns 5] [--way user]

Two streams of 2,000 tokens a second. Each client reads for some seconds in a process of its own; CPU time is that of
the client alone, requests included. The floor is a bare protocol of asyncio that only stamps what comes: no client that
wakes for every event costs less. `tests.bench.ways` says what inftop may be made to go without. Needs the extra
``bench``.
"""

import argparse
import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection as Pipe
from typing import Final

import httpx

from probes.measure.probe import Prober
from probes.selftest.load import Load
from probes.sockets import event_loop
from probes.transport.connect import parse_peer
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from tests.bench.truths import truth_server
from tests.bench.ways import WAYS, read_by

LOAD = Load(2, 2_000, tokens=1_500, interval=1.0)
ROUNDS = 5


async def ours(url: str) -> float:
    """What an event costs that inftop's own prober reads."""
    probers = [
        Prober(one, load_dialect(one.dialect), transport_to(one.base_url, None)) for one in LOAD.endpoints(url, url)
    ]

    async def read() -> int:
        return sum(len(one.timeline.contents) for one in await asyncio.gather(*(one.probe(None) for one in probers)))

    cost = await per_event(read)
    for one in probers:
        one.close()
    return cost


async def theirs(url: str) -> float:
    """What an event costs that httpx-sse reads, each parsed and stamped as a careful script would."""
    from httpx_sse import aconnect_sse

    async def read(client: httpx.AsyncClient, model: str) -> int:
        body = {
            "model": model,
            "stream": True,
            "max_tokens": LOAD.tokens,
            "messages": [{"role": "user", "content": "x"}],
        }
        stamps = []
        async with aconnect_sse(client, "POST", f"{url}/chat/completions", json=body) as source:
            async for event in source.aiter_sse():
                now = time.monotonic_ns()
                if event.data == "[DONE]":
                    break
                choices = json.loads(event.data)["choices"]
                if choices and choices[0]["delta"].get("content"):
                    stamps.append(now)
        return len(stamps)

    async with httpx.AsyncClient(timeout=60) as client:

        async def read_all() -> int:
            return sum(await asyncio.gather(*(read(client, one.model) for one in LOAD.endpoints(url, url))))

        return await per_event(read_all)


class Floor(asyncio.Protocol):
    """Sends one request, stamps every read of the answer, and decodes nothing; ``ended`` at the last chunk."""

    def __init__(self, model: str) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self.stamps: list[int] = []
        self._body = json.dumps({"model": model, "max_tokens": LOAD.tokens}).encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(self._body), self._body))

    def data_received(self, data: bytes) -> None:
        """Stamp a read."""
        self.stamps.append(time.monotonic_ns())
        if data.endswith(b"\r\n0\r\n\r\n"):
            self.ended.set_result(None)


async def floor(url: str) -> float:
    """What an event costs that is only read and stamped."""
    loop, peer = asyncio.get_running_loop(), parse_peer(url, None)

    async def read(model: str) -> int:
        transport, protocol = await loop.create_connection(lambda: Floor(model), peer.host, peer.port)
        await protocol.ended
        transport.close()
        return LOAD.tokens

    async def read_all() -> int:
        return sum(await asyncio.gather(*(read(one.model) for one in LOAD.endpoints(url, url))))

    return await per_event(read_all)


async def per_event(read: Callable[[], Awaitable[int]]) -> float:
    """The CPU time of this process for each event that a round reads, microseconds; the first round is not counted."""
    await read()
    began = time.process_time()
    events = sum([await read() for _ in range(ROUNDS)])
    return (time.process_time() - began) / events * 1e6


def measure(client: str, url: str, pipe: Pipe) -> None:
    """Read, and tell the CPU time per event in microseconds."""
    pipe.send(event_loop.run(ours(url)) if client == "inftop" else asyncio.run(CLIENTS[client](url)))


CLIENTS: Final = {"inftop": ours, "httpx + httpx-sse": theirs, "floor": floor}


def main() -> None:
    """Measure by turns and print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--way", choices=list(WAYS), default="real time")
    wanted = parser.parse_args()
    found: dict[str, list[float]] = {client: [] for client in CLIENTS}
    context = multiprocessing.get_context("spawn")
    with truth_server([LOAD]) as url, read_by(wanted.way):
        for _ in range(wanted.turns):
            for client, costs in found.items():
                here, there = context.Pipe()
                process = context.Process(target=measure, args=(client, url, there))
                process.start()
                there.close()  # so that a client that fails is an end of file here
                costs.append(here.recv())
                process.join()
    medians = {client: statistics.median(costs) for client, costs in found.items()}
    for client, costs in found.items():
        sys.stdout.write(
            f"{client:<18} {medians[client]:6.1f} µs an event   (turns: {', '.join(f'{one:.0f}' for one in costs)})\n"
        )
    own, other, least = medians.values()
    sys.stdout.write(f"ratio {own / other:.2f}, of the floor {least / other:.2f}\n")


if __name__ == "__main__":
    main()
