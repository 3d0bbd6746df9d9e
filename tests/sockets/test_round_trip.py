"""The network's round trip: from the kernel's figures, pure; and over real sockets, against the kernel's own word."""

import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest

from probes.sockets import round_trip
from probes.sockets.connection_timing import Stamp, Step
from probes.sockets.round_trip import (
    OLD_NS,
    RoundTrips,
    TcpInfo,
    lone_sample_us,
    parse_linux,
    parse_macos,
    read_tcp_info,
    segments,
)
from probes.sockets.stream import Stream
from tests.sockets.pairs import on_linux, pair, plenty

# Linux 6.18, loopback, after one request of one segment: getsockopt(IPPROTO_TCP, TCP_INFO)
FIELDS = {24: 0, 68: 22, 72: 12, 100: 0, 148: 14, 156: 1}
SECOND = 10**9


def recorded(size: int = 248) -> bytes:
    data = bytearray(size)
    for offset, value in FIELDS.items():
        if offset + 4 <= size:
            struct.pack_into("=I", data, offset, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (248, TcpInfo(22, 0, 0, 1, 14)),
        (160, TcpInfo(22, 0, 0, 1, 14)),  # Linux 4.6
        (152, TcpInfo(22, 0, 0, None, 14)),
        (104, TcpInfo(22, 0, 0)),  # Linux 2.6
        (100, None),
        (0, None),
    ],
)
def test_those_figures_are_known_that_the_kernel_returns(size, expected):
    assert parse_linux(recorded(size)) == expected


def test_a_minimum_that_was_not_measured_is_not_known():
    data = bytearray(recorded())
    struct.pack_into("=I", data, 148, 0xFFFF_FFFF)
    found = parse_linux(bytes(data))
    assert found is not None
    assert found.least_us is None


def test_macos_has_its_newest_round_trip_in_milliseconds():
    data = bytearray(64)
    for offset, value in {32: 7, 40: 31, 44: 33}.items():
        struct.pack_into("=I", data, offset, value)
    assert parse_macos(bytes(data)) == TcpInfo(33_000, 7, latest_us=31_000)
    assert parse_macos(bytes(data[:44])) is None


def test_where_the_kernel_is_not_asked_the_handshake_is_the_round_trip(monkeypatch):
    monkeypatch.setattr(round_trip, "sys", SimpleNamespace(platform="other"))
    near, far = pair()
    with near, far:
        assert read_tcp_info(near) is None
        now = time.monotonic_ns()
        trips = RoundTrips(near, Step(now - 3_000_000, now))
        trips.note_request()
        assert (trips.awaiting_data, trips.since(now - SECOND)) == (False, 3_000_000)
        assert RoundTrips(near).since(0) is None


@on_linux
def test_a_socket_that_is_closed_tells_nothing():
    near, far = pair()
    with far:
        assert read_tcp_info(near) is not None
        near.close()
        assert read_tcp_info(near) is None


def test_a_lone_sample_follows_from_how_far_it_moved_the_smoothed_one():
    before = TcpInfo(20_000, 0, 0, 5, 10_000)
    for sample in (10_000, 19_000, 20_000, 60_123):
        smoothed = (8 * 20_000 - 20_000 + sample) // 8
        found = lone_sample_us(before, replace(before, rtt_us=smoothed, data_segments=6))
        assert found is not None
        assert abs(found - sample) <= 8
    assert lone_sample_us(TcpInfo(0, 0, 1, 0), TcpInfo(700, 0, 1, 1)) == 700, "the first sample is the smoothed one"
    assert lone_sample_us(before, replace(before, data_segments=7)) is None
    assert segments(before, replace(before, data_segments=7)) == 2


class Kernel:
    """What a kernel would tell of a connection whose every request is acknowledged after some time; and two clocks."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, sock: socket.socket, handshake_us: int = 20_000, retransmitted: int = 0
    ) -> None:
        self.now = SECOND
        self.info = TcpInfo(handshake_us, 0, retransmitted, 0, handshake_us)
        monkeypatch.setattr(round_trip, "read_tcp_info", lambda _: self.info)
        monkeypatch.setattr(round_trip, "time", SimpleNamespace(monotonic_ns=lambda: self.now))
        self.trips = RoundTrips(sock)

    def request(
        self, ack_us: int, answer_us: int = 500_000, rest_s: float = 60, uncertainty_us: int = 0, **odd: int
    ) -> int | None:
        """A request after a rest: the round trip, µs, that its probe tells."""
        self.now += round(rest_s * SECOND)
        started = self.now
        self.trips.note_request()
        known = self.info
        smoothed = known.rtt_us + round((ack_us - known.rtt_us) / 8)
        least = min(ack_us, known.least_us or ack_us)
        self.info = replace(
            known, **{"rtt_us": smoothed, "data_segments": (known.data_segments or 0) + 1, "least_us": least, **odd}
        )
        self.trips.note_data(Stamp(self.now + answer_us * 1000, uncertainty_us * 1000, 0, kernel=True))
        self.now += answer_us * 1000
        found = self.trips.since(started)
        return None if found is None else found // 1000


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    with socket.socket() as sock:
        yield Kernel(monkeypatch, sock)


def about(us: int) -> object:
    return pytest.approx(us, abs=8)


def test_a_path_that_became_longer_or_shorter_is_measured_by_the_next_probe(kernel):
    assert [kernel.request(one) for one in (20_400, 55_000, 54_000, 9_000, 31_000)] == [
        about(one) for one in (20_400, 55_000, 54_000, 9_000, 31_000)
    ]


def test_an_ack_that_came_with_the_answer_is_no_round_trip(kernel):
    assert kernel.request(30_000, answer_us=30_050) == 20_000
    assert kernel.request(15_000, answer_us=15_050) == about(15_000), "but the way is no longer than that"


def test_an_answer_that_may_have_come_with_the_ack_makes_it_no_sample(kernel):
    assert kernel.request(30_000, answer_us=60_000, uncertainty_us=40_000) == 20_000
    assert kernel.request(30_000, answer_us=60_000, uncertainty_us=20_000) == about(30_000)


def test_of_a_probe_that_opened_its_connection_the_smaller_of_both_round_trips_counts(kernel):
    opened = kernel.now
    assert kernel.request(20_400, rest_s=0) == 20_000, "right after the handshake nothing larger is sure"
    kernel.request(24_000)
    kernel.request(22_000)
    assert kernel.trips.since(opened) == 20_000_000


def test_a_handshake_whose_syn_was_sent_again_is_no_round_trip(monkeypatch):
    with socket.socket() as sock:
        lost = Kernel(monkeypatch, sock, 900, retransmitted=1)
        assert lost.trips.since(0) is None
        assert lost.request(30_000) == about(30_000)


def test_an_ack_for_what_was_sent_before_is_none_for_the_request(kernel):
    kernel.info = replace(kernel.info, unacked=1)
    assert kernel.request(12_000, unacked=0) == 20_000


def test_an_ack_held_back_for_want_of_an_answer_is_no_round_trip_unless_it_happens_again(kernel):
    assert kernel.request(60_500) == 20_000
    assert kernel.request(20_300) == about(20_300)
    assert kernel.request(60_500) == about(20_300)
    assert kernel.request(60_400) == about(60_400), "Linux holds back none after one that it held back in vain"


def test_right_after_another_request_an_ack_may_wait_until_the_server_reads(kernel):
    kernel.request(20_100)
    assert kernel.request(25_000, rest_s=0.2) == about(20_100)
    assert kernel.request(18_000, rest_s=0) == about(18_000)


def test_an_old_round_trip_does_not_count_and_a_new_one_is_taken_for_want_of_better(kernel):
    for _ in range(5):
        assert kernel.request(30_000, answer_us=30_010, rest_s=59) == 20_000
    assert kernel.request(30_000, answer_us=30_010, rest_s=OLD_NS / SECOND) is None
    assert kernel.request(90_000) == about(90_000)


def test_what_was_sent_again_is_no_sample(kernel):
    assert kernel.request(1_000, retransmitted=1) == 20_000
    assert kernel.request(19_000) == about(19_000)


def test_of_several_segments_the_kernels_own_minimum_counts(kernel):
    assert kernel.request(90_000, data_segments=9, least_us=19_500) == 19_500


def test_before_all_is_acknowledged_it_is_waited_on(kernel):
    kernel.now += SECOND
    kernel.trips.note_request()
    for unacked, waiting in ((1, True), (0, False)):
        kernel.info = TcpInfo(19_000, unacked, 0, 1, 12_000)
        kernel.trips.note_data(Stamp(kernel.now + 100_000_000))
        assert kernel.trips.awaiting_data is waiting
    assert kernel.trips.since(kernel.now) == 12_000_000


@on_linux
async def test_a_request_on_a_kept_connection_has_the_kernels_round_trip(monkeypatch):
    monkeypatch.setattr(round_trip, "OLD_NS", 0)  # the handshake's is too old
    monkeypatch.setattr(round_trip, "TOGETHER_US", 0)
    near, far = pair()
    with far:
        stream = Stream(near, plenty())
        started = time.monotonic_ns()
        await stream.write(b"a request")
        far.recv(100)
        far.sendall(b"an answer")
        await stream.read()
        info = read_tcp_info(near)
        found = stream.round_trips.since(started)
        stream.abort()
    assert info is not None
    assert info.least_us is not None
    assert found is not None
    assert info.least_us * 1000 <= found <= time.monotonic_ns() - started


@on_linux
async def test_a_loop_that_was_held_up_does_not_bend_the_round_trip():
    near, far = pair()
    with far:
        stream = Stream(near, plenty())
        opened = stream.round_trips.since(0)
        await stream.write(b"a request")
        far.recv(100)
        far.sendall(b"an answer")
        time.sleep(0.05)  # noqa: ASYNC251  # the engine is busy
        await stream.read()
        later = stream.round_trips.since(0)
        stream.abort()
    assert opened is not None
    assert later is not None
    assert later <= opened
