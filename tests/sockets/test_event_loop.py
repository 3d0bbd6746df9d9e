"""The engine's loop: since when it may have been deaf, and that it is a loop like any other."""

import asyncio
import selectors
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from probes.sockets import event_loop as loop
from probes.sockets.event_loop import EngineLoop, TimestampedSelector, timestamped_selector
from tests.sockets.pairs import arrive, on_linux, pair

HELD_S = 0.03
FILES = Path("/proc/self/fd")


def now() -> int:
    return time.monotonic_ns()


@contextmanager
def listening() -> Iterator[tuple[TimestampedSelector, socket.socket, socket.socket]]:
    """An ear, the socket it hears, and the other end of that."""
    timestamped_selector = TimestampedSelector()
    near, far = pair()
    timestamped_selector.register(near, selectors.EVENT_READ)
    with near, far:
        yield timestamped_selector, near, far
    timestamped_selector.close()


def test_a_selection_that_waited_heard_what_woke_it():
    with listening() as (timestamped_selector, _, _):
        began = now()
        assert timestamped_selector.select(0.02) == []
        assert began <= timestamped_selector.not_polling_since_ns <= now()


def test_what_came_before_a_selection_may_have_come_since_the_one_before():
    with listening() as (timestamped_selector, near, far):
        timestamped_selector.select(0.02)
        heard = timestamped_selector.not_polling_since_ns
        written = now()
        far.send(b"x")
        arrive(near, 1)
        assert timestamped_selector.select(5)
        assert heard <= timestamped_selector.not_polling_since_ns <= written


@pytest.mark.parametrize("timeout", [0, 0.02])
def test_a_selection_that_found_nothing_is_where_the_next_deafness_begins(timeout):
    with listening() as (timestamped_selector, near, far):
        before = now()
        assert timestamped_selector.select(timeout) == []
        written = now()
        far.send(b"x")
        arrive(near, 1)
        assert timestamped_selector.select(0)
        assert before <= timestamped_selector.not_polling_since_ns <= written


def test_ready_at_once_again_and_again_never_counts_as_waited():
    with listening() as (timestamped_selector, near, far):
        timestamped_selector.select(0)
        far.send(b"x")  # and nobody reads it
        arrive(near, 1)
        for _ in range(3):
            asked = now()
            assert timestamped_selector.select(5)
            assert timestamped_selector.not_polling_since_ns <= asked


def test_the_processor_the_system_did_not_give_is_not_counted_as_listening(monkeypatch):
    """A thread woken at once but run late was not waiting for data all that time."""
    with listening() as (timestamped_selector, _, _):
        late = 15_000_000
        before = timestamped_selector._queue.waited_ns()
        monkeypatch.setattr(timestamped_selector._queue, "waited_ns", lambda: before + late)
        began = now()
        timestamped_selector.select(0.02)
        ended = now()
        assert timestamped_selector.not_polling_since_ns <= ended - late
        assert timestamped_selector.not_polling_since_ns >= began


def test_a_selection_looks_before_it_waits_and_what_it_did_not_see_came_later(monkeypatch):
    with listening() as (timestamped_selector, _, _):
        before = timestamped_selector._queue.waited_ns()
        monkeypatch.setattr(timestamped_selector._queue, "waited_ns", lambda: before + 1_000_000_000)
        began = now()
        timestamped_selector.select(0.001)
        assert began <= timestamped_selector.not_polling_since_ns <= now(), (
            "however long the system says that this thread stood in line"
        )


def test_data_that_came_while_a_callback_held_the_loop_came_after_it_was_last_heard():
    near, far = pair()
    found: list[tuple[int, int]] = []

    async def main() -> None:
        running = asyncio.get_running_loop()
        read = asyncio.Event()

        def receive() -> None:
            near.recv(100)
            heard = timestamped_selector(running)
            assert heard is not None
            found.append((heard.not_polling_since_ns, now()))
            read.set()

        running.add_reader(near, receive)
        await asyncio.sleep(0.02)  # the loop has waited, and heard nothing
        held = now()
        time.sleep(HELD_S)  # noqa: ASYNC251  # on purpose
        written = now()
        far.send(b"x")
        time.sleep(HELD_S)  # noqa: ASYNC251
        await read.wait()
        running.remove_reader(near)
        [(since, at)] = found
        assert since <= held, "it was deaf since before it was held"
        assert since <= written <= at

    with near, far:
        loop.run(main())


def test_only_an_engines_loop_knows_since_when_it_is_deaf():
    async def ask() -> TimestampedSelector | None:
        return timestamped_selector(asyncio.get_running_loop())

    assert asyncio.run(ask()) is None
    before = now()
    found = loop.run(ask())
    assert found is not None
    assert before <= found.not_polling_since_ns <= now()


def test_run_gives_what_main_gives_and_raises_what_it_raises():
    async def main() -> str:
        assert isinstance(asyncio.get_running_loop(), EngineLoop)
        return "done"

    async def fail() -> None:
        raise ZeroDivisionError

    assert loop.run(main()) == "done"
    with pytest.raises(ZeroDivisionError):
        loop.run(fail())


@pytest.mark.skipif(sys.platform == "win32", reason="a selector loop runs no subprocesses on Windows")
def test_it_runs_subprocesses_and_threads():
    async def main() -> tuple[bytes, int]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "print('hello')", stdout=asyncio.subprocess.PIPE
        )
        said, _ = await process.communicate()
        return said.strip(), await asyncio.to_thread(lambda: 7)

    assert loop.run(main()) == (b"hello", 7)


@on_linux
def test_it_leaves_no_file_open():
    async def main() -> None:
        await asyncio.sleep(0)

    loop.run(main())
    before = set(FILES.iterdir())
    for _ in range(3):
        loop.run(main())
    assert set(FILES.iterdir()) <= before
