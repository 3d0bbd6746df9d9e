"""StoreQuery: one reading at a time, the newest question always next, and every answer delivered as it is read."""

import asyncio
from threading import Event

import pytest

from probes.store.problem import StoreProblem
from tui.time.store_query import RETRY_AFTER_MS, StoreQuery, single


class Store:
    """Answers when let, remembers what it was asked; and a screen's side of it: a clock, tasks, and what was drawn."""

    def __init__(self, url="db"):
        self.url, self.now = url, 0
        self.read_of, self.gates, self.broken = [], {}, False
        self.tasks, self.drawn = [], []
        self.query = StoreQuery(
            single(self.read), self.draw, url=lambda: self.url, now=lambda: self.now, start=self.start
        )

    def read(self, url, question):
        self.read_of.append(question)
        if gate := self.gates.get(question):
            gate.wait(60)
        if self.broken:
            raise StoreProblem("locked", "in other hands")
        return f"{url} {question}"

    def hold(self, question):
        self.gates[question] = Event()

    def start(self, work):
        self.tasks.append(asyncio.create_task(work))

    def draw(self):
        self.drawn.append(self.query.problem or self.query.found)

    async def rest(self):
        await asyncio.gather(*self.tasks)

    async def begun(self, count):
        while len(self.read_of) < count:
            await asyncio.sleep(0)


async def test_an_answer_is_read_once_and_delivered_once():
    store = Store()
    store.query.ask(1)
    store.query.ask(1)  # it is under way
    assert store.query.reading
    await store.rest()
    assert (store.query.answered, store.query.found, store.query.reading) == (1, "db 1", False)
    store.query.ask(1)
    assert store.read_of == [1]
    assert store.drawn == ["db 1"]


async def test_an_older_questions_answer_never_takes_the_place_of_a_newer_ones():
    store = Store()
    store.hold(1)
    store.query.ask(1)
    await store.begun(1)
    store.query.ask(2)
    store.query.ask(3)
    store.gates[1].set()
    await store.rest()
    assert store.read_of == [1, 3]  # nobody waits for the second any more
    assert store.drawn == ["db 3"]


async def test_the_question_before_asked_again_meanwhile_is_answered_already():
    store = Store()
    store.query.ask(1)
    await store.rest()
    store.hold(2)
    store.query.ask(2)
    await store.begun(2)
    store.query.ask(1)
    assert not store.query.reading
    store.gates[2].set()
    await store.rest()
    assert (store.query.found, store.read_of) == ("db 1", [1, 2])


async def test_a_store_that_cannot_be_read_is_said_and_read_again_later():
    store = Store()
    store.query.ask(1)
    await store.rest()
    store.broken = True
    store.query.ask(2)
    await store.rest()
    assert (store.query.problem, store.query.found) == ("in other hands", "db 1")  # the old one stays
    assert store.drawn == ["db 1", "in other hands"]
    store.broken, store.now = False, RETRY_AFTER_MS - 1
    store.query.ask(2)
    assert not store.query.reading
    store.now += 1
    store.query.ask(2)
    await store.rest()
    assert (store.query.found, store.query.problem) == ("db 2", "")


async def test_a_problem_with_what_is_no_longer_asked_is_nobodys():
    store = Store()
    store.hold(1)
    store.query.ask(1)
    await store.begun(1)
    store.broken = True
    store.query.ask(2)
    store.hold(2)
    store.gates[1].set()
    await store.begun(2)
    store.broken = False
    store.gates[2].set()
    await store.rest()
    assert store.drawn == ["db 2"]


async def test_another_question_after_a_problem_need_not_wait():
    store = Store()
    store.broken = True
    store.query.ask(1)
    await store.rest()
    store.broken = False
    store.query.ask(2)
    await store.rest()
    assert store.query.found == "db 2"


async def test_it_is_asked_when_there_is_a_store():
    store = Store(url=None)
    store.query.ask(1)
    assert not store.query.reading
    assert store.read_of == []
    store.url = "db"
    store.query.ask(1)
    await store.rest()
    assert store.drawn == ["db 1"]


async def test_what_is_forgotten_is_read_again():
    store = Store()
    store.query.ask(1)
    await store.rest()
    store.query.forget()
    assert (store.query.found, store.query.asked) == (None, None)
    store.query.ask(1)
    await store.rest()
    assert store.read_of == [1, 1]


async def test_nothing_comes_of_what_is_forgotten_meanwhile():
    store = Store()
    store.hold(1)
    store.query.ask(1)
    await store.begun(1)
    store.query.forget()
    store.gates[1].set()
    await store.rest()
    assert (store.query.found, store.drawn) == (None, [])


async def test_a_closed_screen_gets_nothing():
    store = Store()
    store.hold(1)
    store.query.ask(1)
    await store.begun(1)
    (task,) = store.tasks
    task.cancel()  # as Textual does with what a screen has run
    with pytest.raises(asyncio.CancelledError):
        await task
    store.gates[1].set()
    await asyncio.to_thread(lambda: None)  # the thread that reads hands over its answer
    assert (store.query.found, store.query.reading, store.drawn) == (None, False, [])


class Rough(Store):
    """Has a rough answer first; the fine one is held, question by question."""

    def __init__(self):
        super().__init__()
        self.query = StoreQuery(
            self.read_twice, self.draw, url=lambda: self.url, now=lambda: self.now, start=self.start
        )

    def read_twice(self, url, question):
        self.read_of.append(f"rough {question}")
        yield f"rough {question}"
        if gate := self.gates.get(question):
            gate.wait(60)
        self.read_of.append(f"fine {question}")
        return f"fine {question}"

    async def have_drawn(self, count):
        while len(self.drawn) < count:
            await asyncio.sleep(0)


async def test_a_rough_answer_is_shown_until_the_fine_one_is_there():
    store = Rough()
    store.hold(1)
    store.query.ask(1)
    await store.have_drawn(1)
    assert (store.query.found, store.query.answered, store.query.reading) == ("rough 1", None, True)
    store.gates[1].set()
    await store.rest()
    assert (store.query.found, store.query.answered, store.query.reading) == ("fine 1", 1, False)
    assert store.drawn == ["rough 1", "fine 1"]


async def test_the_rest_of_what_is_no_longer_wanted_is_not_delivered():
    store = Rough()
    store.hold(1)
    store.query.ask(1)
    await store.have_drawn(1)
    store.query.ask(2)
    store.gates[1].set()
    await store.rest()
    assert store.drawn == ["rough 1", "rough 2", "fine 2"]


async def test_a_rough_answer_to_another_question_is_not_left_standing():
    store = Rough()
    store.query.ask(1)
    await store.rest()
    store.hold(2)
    store.query.ask(2)
    await store.have_drawn(3)
    store.query.ask(1)  # answered before, but what is drawn now is of the second
    store.gates[2].set()
    await store.rest()
    assert store.query.found == "fine 1"
