"""The decode queue: connections with pending reads take turns, and the loop has its own in between."""

import asyncio
from collections import Counter

from probes.sockets import decode_queue
from probes.sockets.decode_queue import DecodeQueue


class Scripted:
    """Has so many pieces to decode; says of each that it was."""

    def __init__(self, name: str, pieces: int, done: list[str]) -> None:
        self._name = name
        self._pieces = pieces
        self._done = done

    def decode_next(self) -> bool:
        self._done.append(self._name)
        self._pieces -= 1
        return self._pieces > 0


async def test_who_waits_takes_turns_however_much_one_has():
    one, done = DecodeQueue(asyncio.get_running_loop(), lambda: False), []
    one.add(Scripted("flooded", 1_000, done), soon=True)
    one.add(Scripted("first", 3, done), soon=True)
    one.add(Scripted("second", 2, done), soon=True)
    while len(done) < 1_005:
        await asyncio.sleep(0)
    assert done[:9] == ["flooded", "first", "second"] * 2 + ["flooded", "first", "flooded"]
    assert Counter(done) == {"flooded": 1_000, "first": 3, "second": 2}


async def test_the_loop_has_its_turn_after_every_piece_that_took_long(monkeypatch):
    monkeypatch.setattr(decode_queue, "TURN_NS", 0)
    monkeypatch.setattr(decode_queue, "POLL_NS", 0)
    one, done = DecodeQueue(asyncio.get_running_loop(), lambda: False), []
    one.add(Scripted("flooded", 50, done), soon=True)
    seen = set()
    while len(done) < 50:
        seen.add(len(done))
        await asyncio.sleep(0)
    assert seen == set(range(50))
