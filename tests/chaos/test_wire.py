"""Every fault of a server ends in one sample: rightly named, in time, with numbers that can be true and no key."""

import asyncio
import json
import math
import re
import ssl
from base64 import b64decode
from dataclasses import replace
from urllib.parse import unquote

import pytest
from msgspec.structs import asdict

from probes.endpoint import Price, Timeouts
from probes.keys.secret import Secret
from probes.measure import exchange
from probes.measure.probe import Prober
from probes.outcome import Outcome
from probes.sockets.event_loop import EngineLoop
from probes.store.row import row_of
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from probes.wire.credentials import Credentials
from tests.chaos.wire_faults import FAULTS, KEY, SECRET
from tests.chaos.wire_server import wire_server
from tests.samples import endpoint

SHORT_S = {"connect": 1.0, "first_token": 1.5, "stall": 1.0, "total": 3.0}
"""The time-out that is to end a fault."""

LONG = Timeouts(connect=60.0, first_token=60.0, stall=60.0, total=80.0)
"""All others: a busy machine may take seconds to look through a flood, or to begin an answer."""

LATE_S = 90.0
"""After so long a probe has hung, however busy the machine."""

STOPS = 5
"""So often a probe is made again in whose middle this process was stopped, which is nobody else's fault."""


@pytest.fixture(scope="module")
def server():
    with wire_server() as running:
        yield running


def parts(text: str, size: int = 6) -> set[str]:
    return {text[at : at + size] for at in range(len(text) - size + 1)}


def readings(said: str) -> list[str]:
    """What can be read out of a text: itself, backwards, URL-decoded, and as base64 from any place on."""
    found = [said, said[::-1], unquote(said)]
    for run in re.findall(r"[\w+/=-]{8,}", said, re.ASCII):
        for start in range(4):
            piece = run[start:].rstrip("=").translate(str.maketrans("-_", "+/"))
            found.append(b64decode(piece[: len(piece) // 4 * 4]).decode("latin-1"))
    return found


@pytest.fixture(autouse=True)
def a_busy_machine(monkeypatch):
    """The body of an error may take as long to look through as any other."""
    monkeypatch.setattr(exchange, "ERROR_BODY_S", LONG.total)


@pytest.mark.parametrize("fault", FAULTS, ids=[one.name for one in FAULTS])
def test_a_fault(fault, server):
    secure = bool(fault.certificate) or fault.scheme == "https"
    scheme = "ws" if fault.dialect.endswith("_ws") else "https" if secure else "http"
    tls = ssl.create_default_context(cafile=server["authority"]) if secure else None
    watched = endpoint(
        base_url=f"{scheme}://127.0.0.1:{server['ports'][fault.name]}/v1", dialect=fault.dialect,
        timeouts=replace(LONG, **{fault.limit: SHORT_S[fault.limit]}) if fault.limit else LONG,
        max_output_tokens=256, price=Price(1.0, 5.0), keys=("A_KEY",),
    )  # fmt: skip

    async def probe():
        prober = Prober(watched, load_dialect(watched.dialect), transport_to(watched.base_url, tls))
        try:
            async with asyncio.timeout(LATE_S):
                return await prober.probe(Credentials(Secret(KEY)))
        finally:
            prober.close()

    for _ in range(STOPS):
        with asyncio.Runner(loop_factory=EngineLoop) as runner:
            probed = runner.run(probe())
        sample = probed.sample
        if sample.outcome is not Outcome.OWN_FAULT or "inftop was stopped" not in str(sample.outcome_detail):
            break
    assert sample.outcome in fault.outcomes, sample
    assert fault.says in (sample.outcome_detail or ""), sample
    row_of(sample, 1)
    assert all(math.isfinite(one) for one in asdict(sample).values() if isinstance(one, float))
    assert sample.ttft_ms is None or sample.ttft_ms >= 0
    assert sample.tokens_per_s is None or fault.numbers
    assert (sample.tokens_per_s or 0) < 20_000, sample
    assert (sample.output_tokens or 0) <= 256 + 64 + 200_000, sample
    assert (sample.input_tokens or 0) <= 1_000_000, sample
    assert (sample.cost_usd or 0) <= 1.0, sample
    said = json.dumps(sample.to_json(), ensure_ascii=False) + probed.text
    leaked = {one for one in parts(SECRET) for reading in readings(said) if one in reading}
    assert not leaked, said
