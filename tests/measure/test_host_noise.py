"""What went on around a probe: the collector's pauses, steps of the clock, what the hypervisor took; and None."""

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from probes.measure import host_noise
from probes.measure.host_noise import BEAT_S, PAUSES_KEPT, SHORTEST_PAUSE_NS, HostNoise, HostNoiseMonitor, LoopLag

HEAP = 300_000
"""Objects that no collector walks in less than the shortest pause that is told."""


@contextmanager
def watching() -> Iterator[HostNoiseMonitor]:
    """A monitor of the running loop."""
    one = HostNoiseMonitor()
    one.start()
    try:
        yield one
    finally:
        one.stop()


@pytest.mark.slow
async def test_a_pause_of_the_collector_is_told_as_long_as_it_was():
    heap = [[] for _ in range(HEAP)]
    with watching() as monitor:
        before = monitor.snapshot()
        began = time.monotonic_ns()
        gc.collect()
        took = (time.monotonic_ns() - began) / 1e6
        pause = monitor.since(before).gc_pause_ms
    assert heap
    assert pause is not None
    assert SHORTEST_PAUSE_NS / 1e6 <= pause <= took


@pytest.mark.slow
async def test_a_pause_before_the_probe_is_not_its_own():
    heap = [[] for _ in range(HEAP)]
    gc.disable()  # none but the one below
    try:
        with watching() as monitor:
            gc.collect()
            before = monitor.snapshot()
            assert monitor.since(before).gc_pause_ms == 0
    finally:
        gc.enable()
    assert heap


def test_the_longest_of_several_pauses_is_told_and_short_ones_are_not_kept(monkeypatch):
    ticks = iter([0, 3_000_000, 10_000_000, 19_000_000, 20_000_000, 20_000_000 + SHORTEST_PAUSE_NS - 1])
    monitor = HostNoiseMonitor()
    with monkeypatch.context() as patched:
        patched.setattr(host_noise.time, "monotonic_ns", lambda: next(ticks))
        for phase in ["start", "stop"] * 3:
            monitor._collecting(phase, {})
    assert list(monitor._pauses) == [(3_000_000, 3_000_000), (19_000_000, 9_000_000)]
    assert monitor._pauses.maxlen == PAUSES_KEPT


@pytest.mark.slow
def test_a_collection_in_another_thread_disturbs_nobody_who_asks(monkeypatch):
    monkeypatch.setattr(host_noise, "SHORTEST_PAUSE_NS", 0)
    monitor = HostNoiseMonitor()
    beginning, enough = monitor.snapshot(), threading.Event()

    def collect() -> None:
        while not enough.is_set():
            monitor._collecting("start", {})
            monitor._collecting("stop", {})

    thread = threading.Thread(target=collect)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(2_000):
            monitor.since(beginning)
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
    monitor = HostNoiseMonitor()
    for _ in range(2):
        found = monitor.since(monitor.snapshot())
        assert (found.loop_lag_ms, found.gc_pause_ms) == (None, None)
        assert found.clock_step_ms == 0
        monitor.start()
        monitor.stop()
    assert monitor.lag_ms(0) is None


async def test_a_held_loop_is_told():
    with watching() as monitor:
        before = monitor.snapshot()
        time.sleep(0.06)  # noqa: ASYNC251  # on purpose
        lag = monitor.since(before).loop_lag_ms
    assert lag is not None
    assert lag >= 30, "a heartbeat was due after 20 ms and could not come before 60"


@pytest.mark.parametrize("step_ms", [-3_600_000.0, -2.0, 2.0, 3_600_000.0])
async def test_a_clock_that_was_set_is_told_with_its_sign(monkeypatch, step_ms):
    monitor = HostNoiseMonitor()
    before = monitor.snapshot()
    real = host_noise.wall_minus_monotonic
    monkeypatch.setattr(host_noise, "wall_minus_monotonic", lambda: real() + round(step_ms * 1e6))
    found = monitor.since(before).clock_step_ms
    assert found == pytest.approx(step_ms, abs=0.9), "a clock may be slewed meanwhile, but not by a millisecond"


async def test_a_clock_that_was_only_slewed_was_not_set(monkeypatch):
    monitor = HostNoiseMonitor()
    monkeypatch.setattr(host_noise, "wall_minus_monotonic", lambda: 10_000_000)
    before = monitor.snapshot()
    monkeypatch.setattr(host_noise, "wall_minus_monotonic", lambda: 10_999_999)
    assert monitor.since(before).clock_step_ms == 0


async def test_what_the_hypervisor_took_is_the_growth_of_its_counter(monkeypatch, tmp_path):
    stat = tmp_path / "stat"
    monkeypatch.setattr(host_noise, "_STAT", stat)
    monitor = HostNoiseMonitor()
    stat.write_text("cpu  1 2 3 4 5 6 7 120 9 10\ncpu0 1 2 3 4 5 6 7 60 9 10\n")
    before = monitor.snapshot()
    stat.write_text("cpu  9 9 9 9 9 9 9 123 9 10\ncpu0 1 2 3 4 5 6 7 99 9 10\n")
    assert monitor.since(before).cpu_steal_ms == 30
    stat.write_text("cpu  9 9 9 9 9 9 9 100 9 10\n")
    assert monitor.since(before).cpu_steal_ms == 0, "a counter that went back tells nothing bad"


@pytest.mark.parametrize("content", [None, "", "cpu 1 2 3", "cpu  a b c d e f g h i j"])
async def test_where_nobody_says_what_was_taken_it_is_not_known(monkeypatch, tmp_path, content):
    stat = tmp_path / "stat"
    monkeypatch.setattr(host_noise, "_STAT", stat)
    if content is not None:
        stat.write_text(content)
    monitor = HostNoiseMonitor()
    assert monitor.since(monitor.snapshot()).cpu_steal_ms is None
    stat.write_text("cpu  9 9 9 9 9 9 9 100 9 10\n")
    late = monitor.snapshot()
    stat.unlink()
    assert monitor.since(late).cpu_steal_ms is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what was taken")
async def test_linux_tells():
    monitor = HostNoiseMonitor()
    before = monitor.snapshot()
    await asyncio.sleep(0)
    steal = monitor.since(before).cpu_steal_ms
    assert steal is not None
    assert steal >= 0


def test_nothing_is_known_by_default():
    assert HostNoise() == HostNoise(None, None, None, None)


# the heartbeat of the loop


async def test_a_held_loop_is_seen_while_and_after_it_is_held():
    lag = LoopLag()
    assert lag.since(0) is None
    lag.start()
    start = time.monotonic_ns()
    time.sleep(BEAT_S + 0.05)  # noqa: ASYNC251  # a call that blocks the loop is what is tested
    held = lag.since(start)
    assert held is not None
    assert held >= 50
    while not lag._late:
        await asyncio.sleep(0)
    assert (lag.since(start) or 0) >= 50
    assert (lag.since(time.monotonic_ns()) or 0) < held
    lag.stop()
    assert lag.since(start) is None
