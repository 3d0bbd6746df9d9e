"""The engine's loop: since when it has not polled, and that it is a loop like any other."""

import asyncio
import selectors
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from probes.sockets import event_loop
from probes.sockets.event_loop import EngineLoop, TimestampedSelector, timestamped_selector
from tests.sockets.pairs import arrive, on_linux, pair

HELD_S = 0.03
FILES = Path("/proc/self/fd")


def now() -> int:
    return time.monotonic_ns()


@contextmanager
def watching() -> Iterator[tuple[TimestampedSelector, socket.socket, socket.socket]]:
    """A selector, the socket it watches, and the other end of that."""
    selector = TimestampedSelector()
    near, far = pair()
    selector.register(near, selectors.EVENT_READ)
    with near, far:
        yield selector, near, far
    selector.close()


def test_a_selection_that_waited_polled_until_it_woke():
    with watching() as (selector, _, _):
        began = now()
        assert selector.select(0.02) == []
        assert began <= selector.not_polling_since_ns <= now()


def test_what_came_before_a_selection_may_have_come_since_the_one_before():
    with watching() as (selector, near, far):
        selector.select(0.02)
        since = selector.not_polling_since_ns
        written = now()
        far.send(b"x")
        arrive(near, 1)
        assert selector.select(5)
        assert since <= selector.not_polling_since_ns <= written


@pytest.mark.parametrize("timeout", [0, 0.02])
def test_after_a_selection_that_found_nothing_data_can_only_come_later(timeout):
    with watching() as (selector, near, far):
        before = now()
        assert selector.select(timeout) == []
        written = now()
        far.send(b"x")
        arrive(near, 1)
        assert selector.select(0)
        assert before <= selector.not_polling_since_ns <= written


def test_ready_at_once_again_and_again_never_counts_as_waited():
    with watching() as (selector, near, far):
        selector.select(0)
        far.send(b"x")  # and nobody reads it
        arrive(near, 1)
        for _ in range(3):
            asked = now()
            assert selector.select(5)
            assert selector.not_polling_since_ns <= asked


def test_waiting_for_a_processor_is_not_counted_as_polling(monkeypatch):
    """A thread woken at once but run late was not waiting for data all that time."""
    with watching() as (selector, _, _):
        late = 15_000_000
        before = selector._run_queue.waited_ns()
        monkeypatch.setattr(selector._run_queue, "waited_ns", lambda: before + late)
        began = now()
        selector.select(0.02)
        ended = now()
        assert selector.not_polling_since_ns <= ended - late
        assert selector.not_polling_since_ns >= began


def test_a_selection_polls_before_it_waits_and_what_that_did_not_find_came_later(monkeypatch):
    with watching() as (selector, _, _):
        before = selector._run_queue.waited_ns()
        monkeypatch.setattr(selector._run_queue, "waited_ns", lambda: before + 1_000_000_000)
        began = now()
        selector.select(0.001)
        assert began <= selector.not_polling_since_ns <= now(), (
            "however long the system says that this thread waited for a processor"
        )


def test_data_that_came_while_a_callback_held_the_loop_came_after_the_last_poll():
    near, far = pair()
    found: list[tuple[int, int]] = []

    async def main() -> None:
        running = asyncio.get_running_loop()
        read = asyncio.Event()

        def receive() -> None:
            near.recv(100)
            own = timestamped_selector(running)
            assert own is not None
            found.append((own.not_polling_since_ns, now()))
            read.set()

        running.add_reader(near, receive)
        await asyncio.sleep(0.02)  # the loop has waited, and found nothing
        held = now()
        time.sleep(HELD_S)  # noqa: ASYNC251  # on purpose
        written = now()
        far.send(b"x")
        time.sleep(HELD_S)  # noqa: ASYNC251
        await read.wait()
        running.remove_reader(near)
        [(since, at)] = found
        assert since <= held, "it has not polled since before it was held"
        assert since <= written <= at

    with near, far:
        event_loop.run(main())


def test_only_an_engines_loop_knows_since_when_it_has_not_polled():
    async def ask() -> TimestampedSelector | None:
        return timestamped_selector(asyncio.get_running_loop())

    assert asyncio.run(ask()) is None
    before = now()
    found = event_loop.run(ask())
    assert found is not None
    assert before <= found.not_polling_since_ns <= now()


def test_run_gives_what_main_gives_and_raises_what_it_raises():
    async def main() -> str:
        assert isinstance(asyncio.get_running_loop(), EngineLoop)
        return "done"

    async def fail() -> None:
        raise ZeroDivisionError

    assert event_loop.run(main()) == "done"
    with pytest.raises(ZeroDivisionError):
        event_loop.run(fail())


@pytest.mark.skipif(sys.platform == "win32", reason="a selector loop runs no subprocesses on Windows")
def test_it_runs_subprocesses_and_threads():
    async def main() -> tuple[bytes, int]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "print('hello')", stdout=asyncio.subprocess.PIPE
        )
        said, _ = await process.communicate()
        return said.strip(), await asyncio.to_thread(lambda: 7)

    assert event_loop.run(main()) == (b"hello", 7)


@on_linux
def test_it_leaves_no_file_open():
    async def main() -> None:
        await asyncio.sleep(0)

    event_loop.run(main())
    before = set(FILES.iterdir())
    for _ in range(3):
        event_loop.run(main())
    assert set(FILES.iterdir()) <= before
