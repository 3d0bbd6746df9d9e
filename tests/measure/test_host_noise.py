"""What went on around a probe: the collector's pauses, steps of the clock, what the hypervisor took; and None."""

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from probes.measure import host_noise as surroundings
from probes.measure.host_noise import PAUSES_KEPT, SHORTEST_PAUSE_NS, HostNoise, HostNoiseMonitor

HEAP = 300_000
"""Objects that no collector walks in less than the shortest pause that is told."""


@contextmanager
def watching() -> Iterator[HostNoiseMonitor]:
    """Surroundings that watch the running loop."""
    one = HostNoiseMonitor()
    one.start()
    try:
        yield one
    finally:
        one.stop()


async def test_a_pause_of_the_collector_is_told_as_long_as_it_was():
    heap = [[] for _ in range(HEAP)]
    with watching() as around:
        before = around.begin()
        began = time.monotonic_ns()
        gc.collect()
        took = (time.monotonic_ns() - began) / 1e6
        pause = around.since(before).gc_pause_ms
    assert heap
    assert pause is not None
    assert SHORTEST_PAUSE_NS / 1e6 <= pause <= took


async def test_a_pause_before_the_probe_is_not_its_own():
    heap = [[] for _ in range(HEAP)]
    gc.disable()  # none but the one below
    try:
        with watching() as around:
            gc.collect()
            before = around.begin()
            assert around.since(before).gc_pause_ms == 0
    finally:
        gc.enable()
    assert heap


def test_the_longest_of_several_pauses_is_told_and_short_ones_are_not_kept(monkeypatch):
    ticks = iter([0, 3_000_000, 10_000_000, 19_000_000, 20_000_000, 20_000_000 + SHORTEST_PAUSE_NS - 1])
    around = HostNoiseMonitor()
    with monkeypatch.context() as patched:
        patched.setattr(surroundings.time, "monotonic_ns", lambda: next(ticks))
        for phase in ["start", "stop"] * 3:
            around._collecting(phase, {})
    assert list(around._pauses) == [(3_000_000, 3_000_000), (19_000_000, 9_000_000)]
    assert around._pauses.maxlen == PAUSES_KEPT


def test_a_collection_in_another_thread_disturbs_nobody_who_asks(monkeypatch):
    monkeypatch.setattr(surroundings, "SHORTEST_PAUSE_NS", 0)
    around = HostNoiseMonitor()
    beginning, enough = around.begin(), threading.Event()

    def collect() -> None:
        while not enough.is_set():
            around._collecting("start", {})
            around._collecting("stop", {})

    thread = threading.Thread(target=collect)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(2_000):
            around.since(beginning)
    finally:
        enough.set()
        thread.join()
        sys.setswitchinterval(interval)


async def test_starting_and_stopping_leave_the_collector_as_it_was():
    before = list(gc.callbacks)
    one, other = HostNoiseMonitor(), HostNoiseMonitor()
    one.start()
    other.start()
    assert len(gc.callbacks) == len(before) + 2
    one.stop()
    other.stop()
    assert gc.callbacks == before


async def test_who_does_not_watch_knows_neither_lag_nor_pauses():
    around = HostNoiseMonitor()
    for _ in range(2):
        found = around.since(around.begin())
        assert (found.loop_lag_ms, found.gc_pause_ms) == (None, None)
        assert found.clock_step_ms == 0
        around.start()
        around.stop()
    assert around.lag_ms(0) is None


async def test_a_held_loop_is_told():
    with watching() as around:
        before = around.begin()
        time.sleep(0.06)  # noqa: ASYNC251  # on purpose
        lag = around.since(before).loop_lag_ms
    assert lag is not None
    assert lag >= 30, "a heartbeat was due after 20 ms and could not come before 60"


@pytest.mark.parametrize("step_ms", [-3_600_000.0, -2.0, 2.0, 3_600_000.0])
async def test_a_clock_that_was_set_is_told_with_its_sign(monkeypatch, step_ms):
    around = HostNoiseMonitor()
    before = around.begin()
    real = surroundings.wall_minus_monotonic
    monkeypatch.setattr(surroundings, "wall_minus_monotonic", lambda: real() + round(step_ms * 1e6))
    found = around.since(before).clock_step_ms
    assert found == pytest.approx(step_ms, abs=0.9), "a clock may be slewed meanwhile, but not by a millisecond"


async def test_a_clock_that_was_only_slewed_was_not_set(monkeypatch):
    around = HostNoiseMonitor()
    monkeypatch.setattr(surroundings, "wall_minus_monotonic", lambda: 10_000_000)
    before = around.begin()
    monkeypatch.setattr(surroundings, "wall_minus_monotonic", lambda: 10_999_999)
    assert around.since(before).clock_step_ms == 0


async def test_what_the_hypervisor_took_is_the_growth_of_its_counter(monkeypatch, tmp_path):
    stat = tmp_path / "stat"
    monkeypatch.setattr(surroundings, "_STAT", stat)
    around = HostNoiseMonitor()
    stat.write_text("cpu  1 2 3 4 5 6 7 120 9 10\ncpu0 1 2 3 4 5 6 7 60 9 10\n")
    before = around.begin()
    stat.write_text("cpu  9 9 9 9 9 9 9 123 9 10\ncpu0 1 2 3 4 5 6 7 99 9 10\n")
    assert around.since(before).cpu_steal_ms == 30
    stat.write_text("cpu  9 9 9 9 9 9 9 100 9 10\n")
    assert around.since(before).cpu_steal_ms == 0, "a counter that went back tells nothing bad"


@pytest.mark.parametrize("content", [None, "", "cpu 1 2 3", "cpu  a b c d e f g h i j"])
async def test_where_nobody_says_what_was_taken_it_is_not_known(monkeypatch, tmp_path, content):
    stat = tmp_path / "stat"
    monkeypatch.setattr(surroundings, "_STAT", stat)
    if content is not None:
        stat.write_text(content)
    around = HostNoiseMonitor()
    assert around.since(around.begin()).cpu_steal_ms is None
    stat.write_text("cpu  9 9 9 9 9 9 9 100 9 10\n")
    late = around.begin()
    stat.unlink()
    assert around.since(late).cpu_steal_ms is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what was taken")
async def test_linux_tells():
    around = HostNoiseMonitor()
    before = around.begin()
    await asyncio.sleep(0)
    steal = around.since(before).cpu_steal_ms
    assert steal is not None
    assert steal >= 0


def test_nothing_is_known_by_default():
    assert HostNoise() == HostNoise(None, None, None, None)
