"""Whatever befalls the store: it is said, and what was printed arrives, once, however the recorder ends."""

import signal
import time
from collections import Counter
from contextlib import ExitStack

import pytest

from tests.chaos.providers import MODEL, provider
from tests.chaos.recorder import configuration, record_for, recording
from tests.chaos.store_faults import PASSING, small_disk, stored

NAMES = ("one", "two", "three")
BEFORE, MEANWHILE = 6, 12
"""Samples that are printed before the fault, and while it lasts."""

PROMISE_S = 0.2
"""What a killed recorder may lose: samples printed in the last so many seconds."""

ENDS = ("it heals", "SIGTERM", "SIGKILL")
SHORT = {("locked", end) for end in ENDS} | {("full", "SIGKILL"), ("deleted", "it heals")}
ROWS = [(fault, end) for fault in PASSING for end in ENDS if fault.lasts or end == "it heals"]


@pytest.mark.parametrize(
    ("fault", "end"),
    [
        pytest.param(
            fault, end, marks=() if (fault.name, end) in SHORT else pytest.mark.long, id=f"{fault.name}, {end}"
        )
        for fault, end in ROWS
    ],
)
def test_what_was_printed_arrives_once(fault, end, tmp_path):
    with ExitStack() as held:
        simulator = held.enter_context(provider())
        disk = tmp_path / "disk" / "folder"
        if fault.name == "full":
            held.enter_context(small_disk(disk))
        else:
            disk.mkdir(parents=True)
        path, home = disk / "h.db", tmp_path / "home"
        config = configuration(tmp_path / "c.toml", f"sqlite:///{path}", dict.fromkeys(NAMES, (simulator.url, MODEL)))
        recorder = held.enter_context(recording(config, home))
        recorder.until(lambda: recorder.printed() >= BEFORE)
        before = recorder.printed()
        killed = float("inf")
        with fault.holding(path):
            faulted = time.monotonic()
            recorder.until(lambda: recorder.printed() >= before + MEANWHILE)
            if end == "it heals" and fault.lasts:  # what is over before it was noticed need not be said
                recorder.until(lambda: recorder.says(fault.says))
            if end == "SIGKILL":
                recorder.send(signal.SIGKILL)
                killed = time.monotonic()
                recorder.ended()
            elif end == "SIGTERM":
                recorder.send(signal.SIGTERM)
                code = recorder.ended()
                assert code == 3, recorder.errors
        if end == "it heals":
            recorder.until(lambda: recorder.printed() >= before + 3 * MEANWHILE)
            recorder.send(signal.SIGTERM)
            assert recorder.ended() == 0, recorder.errors
        assert recorder.says(fault.says) or end == "SIGKILL", recorder.errors
        if end != "it heals":
            later = record_for(config, home, "1s")  # whoever records next there delivers what waits
            assert later.process.returncode == 0, later.errors
        rows = stored(path)
        late_s = PROMISE_S + recorder.held_up_s(killed)
        due = Counter({name: recorder.printed(name, killed - late_s) for name in NAMES})
        if not fault.lasts:  # what was stored in the old file went with it
            due -= Counter({name: recorder.printed(name, faulted + late_s) for name in NAMES})
        there = Counter(endpoint for endpoint, *_ in rows)
        if end != "it heals":
            there -= Counter({name: later.printed(name) for name in NAMES})
        lost = {name: due[name] - there[name] for name in NAMES if there[name] < due[name]}
        assert not lost, f"printed {due}, stored {there}\n{recorder.errors}"
        assert len(set(rows)) == len(rows), "a sample was stored twice"
        if end == "it heals" and fault.lasts:
            assert there == Counter({name: recorder.printed(name) for name in NAMES})
