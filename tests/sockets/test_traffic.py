"""Traffic: when a connection ended after a request, and for how long nothing went over it before."""

import asyncio
import select
import socket
import time

import pytest

from probes.sockets import traffic
from probes.sockets.errors import ExchangeError
from probes.sockets.event_loop import EngineLoop
from probes.sockets.idle import PROMPT_NS, Idle
from probes.sockets.stream import Stream
from probes.sockets.traffic import GOODBYE_NS, ConnectionActivity
from tests.sockets.pairs import streaming
from tests.sockets.test_stream import reset

HELD_NS = 3 * PROMPT_NS
"""Longer than a close that was under way before a request can take."""


async def ask(stream: Stream) -> None:
    stream.traffic.ask()
    await stream.write(b"a request")


async def end_of(stream: Stream) -> None:
    async with asyncio.timeout(20):
        while not stream.eof:
            await asyncio.sleep(0.001)


def gone(near: socket.socket) -> None:
    """Wait until an end has come, without a turn of the loop."""
    assert select.select([near], [], [], 10)[0]


def hold() -> None:
    """Keep the loop from listening."""
    time.sleep(HELD_NS / 1e9)


async def test_a_reset_that_is_met_by_the_writing_came_before_any_byte():
    async with streaming() as (stream, far):
        reset(far)
        gone(stream._sock)
        with pytest.raises(ExchangeError):
            await ask(stream)
        assert stream.hung_up is not None
        assert stream.hung_up < PROMPT_NS


async def test_an_end_that_had_come_before_the_request_is_known_to_be_earlier():
    async with streaming() as (stream, far):
        far.shutdown(socket.SHUT_WR)
        await end_of(stream)
        await asyncio.sleep(0.01)
        await ask(stream)
        assert stream.hung_up is not None
        assert stream.hung_up < 0


async def test_an_end_that_a_busy_loop_hears_late_may_have_come_at_once():
    if not isinstance(asyncio.get_running_loop(), EngineLoop):
        pytest.skip("this loop does not know when it listened")
    async with streaming() as (stream, far):
        await ask(stream)
        far.close()
        hold()
        await end_of(stream)
        assert stream.hung_up is not None
        assert stream.hung_up < PROMPT_NS


async def test_an_end_that_comes_late_is_late():
    async with streaming() as (stream, far):
        await ask(stream)
        await asyncio.sleep(HELD_NS / 1e9)
        far.recv(100)  # what is unread at a close makes it a reset
        far.close()
        await end_of(stream)
        assert stream.hung_up is not None
        assert stream.hung_up > PROMPT_NS


@pytest.mark.parametrize("end", [reset, socket.socket.close])
async def test_after_a_byte_it_is_no_hanging_up(end):
    async with streaming() as (stream, far):
        await ask(stream)
        far.recv(100)
        far.sendall(b"H")
        assert (await stream.read())[1] == b"H"
        end(far)
        await end_of(stream)
        assert stream.hung_up is None


async def test_a_connection_that_is_open_has_not_hung_up():
    async with streaming() as (stream, _):
        await ask(stream)
        assert stream.hung_up is None
        assert not stream.traffic.idle.closed


def test_idle_time_ends_with_the_connection_and_a_goodbye_is_no_traffic(monkeypatch):
    now_ns = 1_000_000_000
    monkeypatch.setattr(traffic, "elapsed_ns", lambda: now_ns)
    silent, polite = ConnectionActivity(), ConnectionActivity()
    now_ns = 31_000_000_000
    assert silent.idle == Idle(30.0, closed=False)
    polite.moved()  # a close frame
    now_ns += GOODBYE_NS // 2
    polite.moved()  # and a close_notify
    polite.end()
    silent.end()
    now_ns = 99_000_000_000
    assert silent.idle == Idle(30.05, closed=True)
    assert polite.idle == silent.idle
