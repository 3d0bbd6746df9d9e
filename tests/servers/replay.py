"""Replay: an answer in given pieces over a real socket, what a probe makes of it, and each dialect's records."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from probes.figures.response import ResponseAccumulator
from probes.figures.timeline import Timeline
from probes.measure.build_sample import build_sample
from probes.measure.host_noise import HostNoise
from probes.measure.probe import Prober, ProbeResult
from probes.sample import Sample
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from tests.samples import endpoint
from tests.servers.raw_server import Client, serving
from tests.wire.dialect_facts import Records, every_facts, socket_dialects

Ending = Literal["whole", "cut", "open"]
"""What follows the last piece: the proper end of the response, the end of the connection in its midst, or nothing."""

Timed = tuple[float, bytes]
"""Milliseconds since the request was sent, and what came then."""

PACE_S: Final = 0.002
"""Between two pieces, so that each is a read of its own as a rule; no test needs it to be."""


async def replay(
    dialect: str, pieces: Sequence[bytes], *, status: int = 200, ending: Ending = "whole", **options: Any
) -> ProbeResult:
    """One probe of a server that answers with these pieces, each an HTTP chunk (or WebSocket message) of its own."""
    over_socket = dialect in socket_dialects()

    async def script(client: Client) -> None:
        if over_socket:
            await client.upgrade()
        else:
            await client.request()
            await client.say(f"HTTP/1.1 {status} Said\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for piece in pieces:
            if over_socket:
                await client.message(piece.removesuffix(b"\n"))
            else:
                await client.say(b"%x\r\n%b\r\n" % (len(piece), piece))
            await asyncio.sleep(PACE_S)
        if ending == "open":
            await client.hold()
        elif ending == "whole" and not over_socket:
            await client.say(b"0\r\n\r\n")

    async with serving(script) as port:
        url = f"{'ws' if over_socket else 'http'}://127.0.0.1:{port}/v1"
        watched = endpoint(dialect=dialect, base_url=url, **options)
        prober = Prober(watched, load_dialect(dialect), transport_to(url, None))
        try:
            return await prober.probe(None)
        finally:
            prober.close()


def replayed(dialect: str, records: Iterable[Timed], **fields: Any) -> Sample:
    """The sample of a whole 200 response to an endpoint of these ``fields``, as of a clock that runs by the records."""
    watched = endpoint(**{"dialect": dialect, "max_output_tokens": 2_000, **fields})
    answer, timeline, reader = ResponseAccumulator(), Timeline(due=0, started=0, sent=0), load_dialect(dialect).reader()
    last = 0
    for at_ms, data in records:
        last = round(at_ms * 1e6)
        for one in reader.feed(data):
            answer.add(one, last, timeline)
    for one in reader.close():
        answer.add(one, last, timeline)
    return build_sample(
        watched, timeline, answer,
        vantage="local", started_at=0, status=200, reused=True, limits=None, host_noise=HostNoise(), credentials=None,
    )  # fmt: skip


RECORDS: Final[Mapping[str, Records]] = {name: one.records for name, one in every_facts().items()}
"""How each dialect says things."""


def answer(dialect: str, *texts: str, counts: tuple[int, int] | None = (12, 20)) -> list[bytes]:
    """A whole answer of these texts, an event each."""
    records = RECORDS[dialect]
    whole = [*map(records.output, texts), records.finish(), *([records.usage(*counts)] if counts else [])]
    return [one for one in [*whole, records.marker] if one]
