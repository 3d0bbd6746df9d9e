"""The gun: nobody starts before everybody is there, and then in order."""

import asyncio
import time

from probes.engine.race.start_barrier import StartBarrier


async def test_nobody_starts_before_the_last_one_is_ready_and_then_in_order():
    gun, started = StartBarrier((2, 0, 1)), []

    async def lane(number: int) -> None:
        await gun.ready(number)
        started.append(number)

    tasks = [asyncio.create_task(lane(0)), asyncio.create_task(lane(2))]
    for _ in range(10):
        await asyncio.sleep(0)
    assert started == []
    assert gun.fired_at is None
    before = time.monotonic_ns()
    await lane(1)
    await asyncio.gather(*tasks)
    assert started == [2, 0, 1]
    assert gun.fired_at is not None
    assert before <= gun.fired_at <= time.monotonic_ns()


async def test_a_lane_that_does_not_come_holds_up_nobody():
    gun = StartBarrier((0, 1))
    waiting = asyncio.create_task(gun.ready(0))
    await asyncio.sleep(0)
    gun.scratch(1)
    await waiting


async def test_a_lane_that_went_away_while_it_waited_is_not_waited_for():
    gun = StartBarrier((0, 1))
    waiting = asyncio.create_task(gun.ready(0))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    gun.scratch(0)
    await gun.ready(1)


async def test_it_fires_once():
    gun = StartBarrier((0, 1))
    gun.scratch(0)
    gun.scratch(1)
    await asyncio.sleep(0)
    first = gun.fired_at
    assert first is not None
    gun.scratch(1)
    await asyncio.sleep(0)
    assert gun.fired_at == first
