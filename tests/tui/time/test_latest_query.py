"""Lookback: one question at a time, the newest always next, and what was read stays until the next is there."""

import asyncio
from threading import Event

from probes.store.problem import StoreProblem
from tui.time.latest_query import AGAIN_AFTER_MS, LatestQuery


class Store:
    """Answers when told, and remembers what it was asked."""

    def __init__(self):
        self.asked, self.gates, self.broken = [], {}, False

    def read(self, url, question):
        self.asked.append(question)
        if gate := self.gates.get(question):
            gate.wait(60)
        if self.broken:
            raise StoreProblem("locked", "in other hands")
        return [f"{url} {question}"]


async def test_an_answer_is_asked_for_once():
    store = Store()
    lookback = LatestQuery(store.read)
    assert lookback.want(1, 0)
    assert not lookback.want(1, 0)  # it is under way
    await lookback.run("db", lambda: 0)
    assert (lookback.of, lookback.found) == (1, "db 1")
    assert not lookback.want(1, 0)
    assert store.asked == [1]


async def test_answers_to_older_questions_are_dropped_and_the_newest_comes_next():
    store = Store()
    store.gates[1] = Event()
    lookback = LatestQuery(store.read)
    lookback.want(1, 0)
    running = asyncio.create_task(lookback.run("db", lambda: 0))
    while not store.asked:
        await asyncio.sleep(0)
    assert not lookback.want(2, 0)
    assert not lookback.want(3, 0)
    store.gates[1].set()
    await running
    assert store.asked == [1, 3]
    assert lookback.found == "db 3"


async def test_a_store_that_cannot_be_read_is_said_and_asked_again_later():
    store = Store()
    lookback = LatestQuery(store.read)
    lookback.want(1, 0)
    await lookback.run("db", lambda: 0)
    store.broken = True
    assert lookback.want(2, 0)
    await lookback.run("db", lambda: 0)
    assert lookback.problem == "in other hands"
    assert lookback.found == "db 1"  # the old stays
    assert not lookback.want(2, AGAIN_AFTER_MS - 1)
    store.broken = False
    assert lookback.want(2, AGAIN_AFTER_MS)
    await lookback.run("db", lambda: 0)
    assert (lookback.found, lookback.problem) == ("db 2", "")


async def test_what_is_forgotten_is_read_again():
    store = Store()
    lookback = LatestQuery(store.read)
    lookback.want(1, 0)
    await lookback.run("db", lambda: 0)
    lookback.forget()
    assert lookback.found is None
    assert lookback.want(1, 0)


async def test_a_rough_answer_is_shown_until_the_fine_one_is_there():
    fine = Event()

    def read(url, question):
        yield "rough"
        fine.wait(60)
        yield "fine"

    lookback = LatestQuery(read)
    lookback.want(1, 0)
    running = asyncio.create_task(lookback.run("db", lambda: 0))
    while lookback.found is None:
        await asyncio.sleep(0)
    assert (lookback.found, lookback.of, lookback.busy) == ("rough", None, True)
    fine.set()
    await running
    assert (lookback.found, lookback.of, lookback.busy) == ("fine", 1, False)


async def test_the_rest_of_what_is_no_longer_wanted_is_not_read():
    asked, gate = [], Event()

    def read(url, question):
        asked.append(f"rough {question}")
        yield f"rough {question}"
        gate.wait(60)
        asked.append(f"fine {question}")
        yield f"fine {question}"

    lookback = LatestQuery(read)
    lookback.want(1, 0)
    running = asyncio.create_task(lookback.run("db", lambda: 0))
    while lookback.found is None:
        await asyncio.sleep(0)
    lookback.want(2, 0)
    gate.set()
    await running
    assert lookback.found == "fine 2"
    assert asked[-2:] == ["rough 2", "fine 2"]
