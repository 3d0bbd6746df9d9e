"""One hostile endpoint beside four healthy ones: nobody else is blamed for it, and it ends in its own name."""

import json
import sqlite3
from collections import Counter

import pytest

from tests.chaos.providers import MODEL, provider
from tests.chaos.recorder import ENDPOINT, configuration, recording
from tests.chaos.wire_faults import FAULTS
from tests.chaos.wire_server import wire_server

HEALTHY = ("one", "two", "three", "four")
SHORT = {"endless: newlines", "endless: empty frames"}
FLOODS = [one for one in FAULTS if one.floods and not one.certificate and not one.scheme]


@pytest.fixture(scope="module")
def server():
    with wire_server() as running:
        yield running


@pytest.mark.parametrize(
    "fault",
    [pytest.param(one, marks=() if one.name in SHORT else pytest.mark.long, id=one.name) for one in FLOODS],
)
def test_a_hostile_endpoint_spoils_no_other(fault, server, tmp_path, everything):
    path = tmp_path / "h.db"
    with provider() as simulator:
        urls = dict.fromkeys(HEALTHY, (simulator.url, MODEL))
        config = configuration(tmp_path / "c.toml", f"sqlite:///{path}", urls, interval="1s")
        scheme = "ws" if fault.dialect.endswith("_ws") else "http"
        hostile = ENDPOINT.format(
            name="hostile", url=f"{scheme}://127.0.0.1:{server['ports'][fault.name]}/v1", model="m"
        )
        config.write_text(config.read_text() + hostile.replace("openai_chat", fault.dialect))
        rounds = 12 if everything else 4
        with recording(config, tmp_path / "home", "--for", f"{rounds}s") as recorder:
            assert recorder.ended() == 0, recorder.errors
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT endpoint, outcome, trusted FROM samples").fetchall()
        lags = connection.execute("SELECT due_lag_ms FROM samples WHERE endpoint <> 'hostile' ORDER BY 1").fetchall()
    healthy = Counter(outcome for endpoint, outcome, _ in rows if endpoint in HEALTHY)
    said = Counter((outcome, trusted) for endpoint, outcome, trusted in rows if endpoint == "hostile")
    known = [lag for (lag,) in lags if lag is not None]
    report = {"healthy": healthy, "hostile": {str(key): count for key, count in said.items()}, "due lag": known[-3:]}
    assert healthy["ok"] >= 0.99 * healthy.total(), json.dumps(report)
    assert healthy.total() >= len(HEALTHY) * (rounds - 2), json.dumps(report)
    assert {outcome for outcome, _ in said} <= {one.value for one in fault.outcomes} | {"skipped"}, json.dumps(report)
