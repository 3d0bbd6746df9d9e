"""One hostile endpoint beside four healthy ones: nobody else is blamed for it, and it ends in its own name."""

import json
import signal
import sqlite3
from collections import Counter, defaultdict

import pytest

from probes.engine.schedule import spread
from probes.outcome import FAILED
from probes.sample import epoch_ms
from tests.chaos.due_times import due_times, lost_due_times
from tests.chaos.providers import MODEL, provider
from tests.chaos.recorder import ENDPOINT, configuration, recording
from tests.chaos.wire_faults import FAULTS
from tests.chaos.wire_server import wire_server
from tests.tries import tries

HEALTHY = ("one", "two", "three", "four")
SHORT = {"endless: newlines", "endless: empty frames"}
FLOODS = [one for one in FAULTS if one.floods and not one.certificate and not one.scheme]
TRIES = 5


@pytest.fixture(scope="module")
def server():
    with wire_server() as running:
        yield running


def recorded(folder, fault, port, rounds):
    """Endpoint, start and outcome of what was recorded until each healthy endpoint had so many samples."""
    path = folder / "h.db"
    folder.mkdir()
    with provider() as simulator:
        urls = dict.fromkeys(HEALTHY, (simulator.url, MODEL))
        config = configuration(folder / "c.toml", f"sqlite:///{path}", urls, interval="1s")
        scheme = "ws" if fault.dialect.endswith("_ws") else "http"
        hostile = ENDPOINT.format(name="hostile", url=f"{scheme}://127.0.0.1:{port}/v1", model="m")
        config.write_text(config.read_text() + hostile.replace("openai_chat", fault.dialect))
        with recording(config, folder / "home") as recorder:
            recorder.until(
                lambda: recorder.printed("hostile") and all(recorder.printed(f"{name} ") >= rounds for name in HEALTHY)
            )
            recorder.send(signal.SIGTERM)
            assert recorder.ended() == 0, recorder.errors
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT endpoint, started_at, outcome FROM samples").fetchall()


@pytest.mark.parametrize(
    "fault",
    [pytest.param(one, marks=() if one.name in SHORT else pytest.mark.long, id=one.name) for one in FLOODS],
)
def test_a_hostile_endpoint_spoils_no_other(fault, server, tmp_path, everything):
    report = ""
    for number in tries(TRIES):
        rows = recorded(tmp_path / str(number), fault, server["ports"][fault.name], 12 if everything else 4)
        outcomes = {name: Counter(outcome for endpoint, _, outcome in rows if endpoint == name) for name in HEALTHY}
        said = {outcome for endpoint, _, outcome in rows if endpoint == "hostile"}
        report = json.dumps(outcomes)
        assert not {outcome for counts in outcomes.values() for outcome in counts} & FAILED, report
        assert all(counts["ok"] for counts in outcomes.values()), report
        assert said <= {one.value for one in fault.outcomes} | {"skipped", "own_fault"}, said
        starts = defaultdict(list)
        for endpoint, at, _ in rows:
            starts[endpoint].append(epoch_ms(at) / 1000)
        for cadence in spread([(name, 1.0) for name in (*HEALTHY, "hostile")])[: len(HEALTHY)]:
            samples = sorted(starts[cadence.name])
            due = due_times(cadence, samples)
            assert not lost_due_times(due, samples), f"{cadence.name} was due at {due}: {samples}"
        if all(set(counts) == {"ok"} for counts in outcomes.values()):
            return  # each was probed whenever it was due; a machine that stands still for a second skips a due time
    pytest.fail(f"none was held up by the machine, and some had to wait in each of {TRIES} tries: {report}")
