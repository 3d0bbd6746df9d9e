"""The heartbeat of the loop: silent before it starts, and late when the loop was held."""

import asyncio
import time

from probes.measure.host_noise import BEAT_S, LoopLag


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
