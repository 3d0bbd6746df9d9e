"""The times of a connection's set-up: the kernel's where it tells, else within their bound, on a busy loop too."""

import asyncio
import select
import socket
import ssl
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.utils import accept_key

from probes.figures.error_bound import setup_bound_ms
from probes.figures.response import ResponseAccumulator
from probes.figures.timeline import Timeline
from probes.measure.build_sample import build_sample
from probes.measure.host_noise import HostNoise
from probes.measure.probe import Prober
from probes.sockets.connection_timing import ConnectionTiming, Stamp, Step, exchanged
from probes.sockets.event_loop import EngineLoop
from probes.sockets.linux import RunQueue
from probes.sockets.round_trip import TcpInfo, read_tcp_info
from probes.sockets.stream import Stream
from probes.transport import connect as network
from probes.transport.factory import transport_to
from probes.transport.websocket import WebSocketConnection
from probes.wire import load_dialect
from probes.wire.dialect import WireRequest
from tests.samples import endpoint
from tests.servers.certificate import server_context
from tests.servers.simulated import simulating
from tests.sockets.pairs import on_linux, pair, plenty

MS = 1_000_000
HELD_UP_S = 0.05
SWITCHING = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %b\r\n\r\n"
)


@on_linux
async def test_a_connect_takes_what_the_kernel_says_though_the_loop_was_held_up():
    with socket.create_server(("127.0.0.1", 0)) as server:
        connecting = asyncio.create_task(network._connect([(socket.AF_INET, server.getsockname())]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # the SYN has gone out, and over loopback its answer has come
        time.sleep(HELD_UP_S)  # noqa: ASYNC251  # the engine is busy
        sock, step = await connecting
        with sock:
            info = read_tcp_info(sock)
    assert info is not None
    assert (step.stop - step.start, step.uncertainty_ns) == (info.rtt_us * 1000, 0)
    assert step.stop - step.start < HELD_UP_S * 1e9


@on_linux
async def test_a_sample_of_an_engine_that_was_held_up_has_the_kernels_time(monkeypatch):
    writable = network._writable

    async def held_up(sock: socket.socket) -> Any:
        time.sleep(HELD_UP_S)  # noqa: ASYNC251
        return await writable(sock)

    monkeypatch.setattr(network, "_writable", held_up)
    async with simulating() as simulator:
        one = endpoint(base_url=simulator.url, dialect="openai_chat", model="test-model")
        prober = Prober(one, load_dialect(one.dialect), transport_to(one.base_url, None))
        sample = (await prober.probe(None)).sample
        prober.close()
    assert sample.connection == "cold"
    assert sample.connect_ms is not None
    assert sample.connect_ms < HELD_UP_S * 1000
    assert (sample.setup_error_bound_ms, sample.setup_trusted) == (0.0, True)
    assert sample.round_trip_ms is not None
    assert sample.round_trip_ms <= sample.connect_ms


async def connected_late() -> tuple[Step, TcpInfo]:
    """A connection to a server that has no room at first, and what the kernel knows of it."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        stack.enter_context(socket.create_connection(server.getsockname()))
        while not (waiting := read_tcp_info(server)) or not waiting.unacked:  # of a server: how many are not accepted
            pass
        connecting = asyncio.create_task(network._connect([(socket.AF_INET, server.getsockname())]))
        for _ in range(3):
            await asyncio.sleep(0)
        server.accept()[0].close()
        sock, step = await connecting
        info = read_tcp_info(stack.enter_context(sock))
    assert info is not None
    return step, info


@on_linux
async def test_a_syn_that_was_sent_again_is_in_the_time_within_its_bound():
    loop = asyncio.get_running_loop()
    for _ in range(5):  # a kernel that is behind with its work may take a SYN in when there is room again
        step, info = await connected_late()
        if info.retransmitted:
            break
    assert info.retransmitted
    assert step.stop - step.start > 900 * MS  # the kernel tries again after a second (RFC 6298 §2)
    if isinstance(loop, EngineLoop):
        assert step.uncertainty_ns is not None
        assert 0 <= step.uncertainty_ns < step.stop - step.start
    else:
        assert step.uncertainty_ns is None


async def test_in_doubt_is_how_long_the_loop_did_not_look():
    loop = asyncio.get_running_loop()
    near, far = pair()
    with near, far:
        looking = asyncio.create_task(network._writable(near))
        await asyncio.sleep(0)
        time.sleep(HELD_UP_S)  # noqa: ASYNC251  # it was writable all along
        _, uncertainty_ns = await looking
    if isinstance(loop, EngineLoop):
        assert uncertainty_ns is not None
        assert uncertainty_ns >= HELD_UP_S * 1e9
    else:
        assert uncertainty_ns is None


async def test_a_name_is_timed_where_it_is_resolved_and_not_when_the_loop_hears_of_it(monkeypatch):
    resolved = threading.Event()

    class Watched(RunQueue):
        def close(self) -> None:
            super().close()
            resolved.set()

    monkeypatch.setattr(network, "RunQueue", Watched)
    looking = asyncio.create_task(network._resolve("localhost", 80, ""))
    await asyncio.sleep(0)
    assert resolved.wait(60)  # and the loop stands still meanwhile
    heard = time.monotonic_ns()
    _, step = await looking
    assert step.start < step.stop <= heard
    assert step.uncertainty_ns is not None
    assert step.uncertainty_ns >= 0


async def test_in_doubt_is_what_a_thread_waited_for_a_processor(monkeypatch):
    class Waiting(RunQueue):
        so_far = 0

        def waited_ns(self) -> int:
            self.so_far += 7 * MS
            return self.so_far

    monkeypatch.setattr(network, "RunQueue", Waiting)
    monkeypatch.setattr(sys, "getswitchinterval", lambda: 0.002)
    _, step = await network._resolve("127.0.0.1", 80, "")
    assert step.uncertainty_ns is not None
    assert 7 * MS <= step.uncertainty_ns <= 9 * MS


def trusting(folder: Path, version: ssl.TLSVersion) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    context, authority = server_context(folder)
    context.maximum_version = version
    return context, ssl.create_default_context(cafile=str(authority))


def answer(session: ssl.SSLObject, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, far: socket.socket) -> None:
    """One flight of the server."""
    incoming.write(far.recv(1 << 16))
    with suppress(ssl.SSLWantReadError):
        session.do_handshake()
    far.sendall(outgoing.read())


@on_linux
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2], ids=["1.3", "1.2"])
async def test_a_handshake_ends_with_the_servers_last_word_and_in_doubt_is_what_we_took_to_answer(tmp_path, version):
    if not isinstance(asyncio.get_running_loop(), EngineLoop):
        pytest.skip("the kernel begins to stamp some time after it is asked to, and only this loop asks beforehand")
    theirs, ours = trusting(tmp_path, version)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = theirs.wrap_bio(incoming, outgoing, server_side=True)
    near, far = pair()
    with far:
        stream = Stream(near, plenty())
        shaking = asyncio.create_task(stream.start_tls(ours, "localhost"))
        await asyncio.sleep(0)
        begun = time.monotonic_ns()
        flights = 1 if version is ssl.TLSVersion.TLSv1_3 else 2
        for _ in range(flights):
            await asyncio.to_thread(select.select, [far], [], [], 60)
            answer(session, incoming, outgoing, far)
            last = time.monotonic_ns()
            time.sleep(HELD_UP_S)  # noqa: ASYNC251  # the engine is busy
        step = await shaking
        stream.abort()
    assert step.start <= begun
    assert step.stop <= last
    assert step.uncertainty_ns is not None
    assert (step.uncertainty_ns >= HELD_UP_S * 1e9) is (flights == 2)


@on_linux
@pytest.mark.parametrize("behind", [b"", b"\x17\x03\x03"], ids=["alone", "half a record behind"])
async def test_a_handshake_ends_with_its_last_record_unless_more_came_behind_it(tmp_path, behind):
    loop = asyncio.get_running_loop()
    if not isinstance(loop, EngineLoop) or loop.uring_receiver is not None:
        pytest.skip("only this loop reads late and knows it")
    theirs, ours = trusting(tmp_path, ssl.TLSVersion.TLSv1_3)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = theirs.wrap_bio(incoming, outgoing, server_side=True)
    near, far = pair()
    with far:
        stream = Stream(near, plenty())
        shaking = asyncio.create_task(stream.start_tls(ours, "localhost"))
        await asyncio.to_thread(select.select, [far], [], [], 60)
        if behind:
            answer(session, incoming, outgoing, far)
        time.sleep(HELD_UP_S)  # noqa: ASYNC251  # the engine is busy
        if behind:
            far.sendall(behind)
        else:
            answer(session, incoming, outgoing, far)
        step = await shaking
        stream.abort()
    assert step.uncertainty_ns is not None
    assert (step.uncertainty_ns >= HELD_UP_S * 1e9) is bool(behind)


@on_linux
@pytest.mark.parametrize("behind", [b"", b"\x81\x02hi"], ids=["alone", "message behind"])
async def test_an_upgrade_ends_with_its_answer_unless_more_came_behind_it(behind):
    loop = asyncio.get_running_loop()
    if not isinstance(loop, EngineLoop) or loop.uring_receiver is not None:
        pytest.skip("only this loop reads late and knows it")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"ws://127.0.0.1:{server.getsockname()[1]}/v1"
        one = WebSocketConnection(url, None)
        opening = asyncio.create_task(one.open(WireRequest(url, {}, b""), plenty()))
        far, _ = await asyncio.to_thread(server.accept)
        with far:
            await asyncio.to_thread(select.select, [far], [], [], 60)
            key = next(one[19:] for one in far.recv(1 << 16).split(b"\r\n") if one.startswith(b"Sec-WebSocket-Key: "))
            answer_to_it = SWITCHING % accept_key(key.decode()).encode()
            parts = (answer_to_it, behind) if behind else (b"", answer_to_it)
            far.sendall(parts[0])
            time.sleep(HELD_UP_S)  # noqa: ASYNC251  # the engine is busy
            far.sendall(parts[1])
            setup = await opening
            one.drop()
    assert setup is not None
    assert setup.upgrade is not None
    assert setup.upgrade.uncertainty_ns is not None
    assert (setup.upgrade.uncertainty_ns >= HELD_UP_S * 1e9) is bool(behind)


def test_what_was_asked_and_answered_took_from_the_one_to_the_other():
    assert exchanged(Stamp(5, 1, 1), Stamp(9, 2, 0, kernel=True), late=10) == Step(5, 9, 11)
    assert exchanged(Stamp(5), Stamp(4, 0, 0)) == Step(4, 4, 0), "stamps of two clocks are no more exact than that"
    assert exchanged(Stamp(5, 1, 1), Stamp(9)).uncertainty_ns is None


@pytest.mark.parametrize(
    ("doubts", "bound", "trusted"),
    [
        ((0, 0), 0.0, True),
        ((1 * MS, 5 * MS), 5.0, True),
        ((5 * MS + 100, 0), 5.0001, False),
        ((0, None), None, None),
    ],
)
def test_a_set_up_is_trusted_as_far_as_the_least_certain_of_its_steps(doubts, bound, trusted):
    connect, tls = (Step(10 * MS, 12 * MS, one) for one in doubts)
    setup = ConnectionTiming(connect, tls=tls)
    assert setup_bound_ms(setup) == bound
    found = build_sample(
        endpoint(), Timeline(0, 0, setup), ResponseAccumulator(),
        vantage="here", started_at=0, status=None, reused=False, limits=None,
        host_noise=HostNoise(), credentials=None,
    )  # fmt: skip
    assert (found.setup_error_bound_ms, found.setup_trusted) == (bound, trusted)
    assert (found.connect_ms, found.tls_ms, found.dns_ms, found.upgrade_ms) == (2.0, 2.0, None, None)
    kept = build_sample(
        endpoint(), Timeline(0, 0), ResponseAccumulator(),
        vantage="here", started_at=0, status=None, reused=True, limits=None,
        host_noise=HostNoise(), credentials=None,
    )  # fmt: skip
    assert (kept.connect_ms, kept.setup_error_bound_ms, kept.setup_trusted) == (None, None, None)
