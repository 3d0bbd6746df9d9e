"""The ring on an engine's loop: who gets what was read, how soon, how sure it is, and every end of a socket."""

import asyncio
import errno
import fcntl
import os
import socket
import struct
import termios
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from probes.sockets import io_uring as uring
from probes.sockets import linux as urgency
from probes.sockets import receive_timestamps as receive_clock
from probes.sockets import uring_reader as ring_module
from probes.sockets.connection_timing import Stamp
from probes.sockets.event_loop import EngineLoop, ReaderKind, reader_kind
from probes.sockets.io_uring import DATA_SIZE, Completion, Uring
from probes.sockets.readers import SelectorReader, make_reader
from probes.sockets.receive_timestamps import CLOCK_ERROR_NS, STEP_NS, stamping_socket
from probes.sockets.uring_reader import FEW, UringReader, UringReceiver
from tests.sockets.pairs import pair, refuse_stamps, ringed
from tests.tries import tries

pytestmark = ringed
FILES = Path("/proc/self/fd")
HELD_S = 0.02
ATTEMPTS = 10
"""Tries at what a reading thread that is not run for as long would spoil."""


def now() -> int:
    return time.monotonic_ns()


def hold() -> None:
    """Keep the loop from everything."""
    time.sleep(HELD_S)


class Heard(list[tuple[Stamp, bytes]]):
    """What one intake handed over."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: UringReader | None = None

    def arrive(self, stamp: Stamp, data: bytes) -> None:
        self.append((stamp, data))

    @property
    def data(self) -> bytes:
        return b"".join(data for _, data in self)

    async def until(self, size: int) -> None:
        """So many bytes have come; in how many reads is the machine's affair."""
        async with asyncio.timeout(60):
            while len(self.data) < size:
                await asyncio.sleep(0)

    async def end(self) -> None:
        async with asyncio.timeout(60):
            while not self or self[-1][1]:
                await asyncio.sleep(0)


@pytest.fixture
def run() -> Callable[..., object]:
    """Runs a coroutine on an engine's loop."""

    def run(main):
        with asyncio.Runner(loop_factory=EngineLoop) as runner:
            return runner.run(main())

    return run


def ring() -> UringReceiver:
    running = asyncio.get_running_loop()
    assert isinstance(running, EngineLoop)
    assert running.ring is not None
    return running.ring


def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the second arrival on all are thick, however long this machine takes between them; then it waits."""
    monkeypatch.setattr(ring_module, "THICK_NS", 10**12)
    monkeypatch.setattr(ring_module, "GATHER_S", 3600.0)


def unseen() -> int:
    """How much lies in the ring."""
    rings = ring()._uring
    return rings._words[rings._completions_end] - rings._seen


async def lying_there() -> None:
    """Until the ring has something that nobody has looked at."""
    async with asyncio.timeout(60):
        while not unseen():
            await asyncio.sleep(0)


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[UringReader, Heard, socket.socket]]:
    """An intake that the kernel has begun to read for, what it heard, and the other end."""
    near, far = pair()
    heard = Heard()
    taken = make_reader(near, heard.arrive)
    assert isinstance(taken, UringReader)
    taken.resume_reading()
    while not taken.armed[0]:
        await asyncio.sleep(0)
    with far:
        try:
            yield taken, heard, far
        finally:
            taken.close()


def test_a_stamp_of_another_wall_clock_than_this_process_s_is_none(run, monkeypatch):
    hour_ns = 3_600_000_000_000
    ahead = SimpleNamespace(monotonic_ns=time.monotonic_ns, time_ns=lambda: time.time_ns() + hour_ns)

    async def main():
        monkeypatch.setattr(receive_clock, "time", ahead)
        async with listening() as (_, heard, far):
            far.sendall(b"x")
            await heard.until(1)  # by now it is known how far that clock is ahead
            before = now()
            far.sendall(b"y")
            await heard.until(2)
        stamp, _ = heard[1]
        assert not stamp.kernel
        assert stamp.uncertainty_ns is None
        assert before <= stamp.at <= now()

    run(main)


def test_reads_that_come_while_the_loop_is_held_are_stamped_apart_and_hardly_in_doubt(run):
    async def main():
        async with listening() as (_, heard, far):
            written = []
            queued_ns = ring()._queued_ns
            for number in range(4):
                before = now()
                far.sendall(b"%d" % number)
                hold()
                written.append((before, now()))
            await heard.until(4)
            assert heard.data == b"0123"
            if len(heard) < 4:
                return False  # the reading thread was not run while two of them came
            for (stamp, _), (before, after) in zip(heard, written, strict=True):
                assert stamp.kernel
                assert before - CLOCK_ERROR_NS <= stamp.at <= after
                assert stamp.end_uncertainty_ns == 0
                assert stamp.uncertainty_ns is not None
                assert stamp.uncertainty_ns <= ring()._queued_ns - queued_ns
            return True

    assert any(run(main) for _ in tries(ATTEMPTS)), "read together"


def test_the_time_the_reading_thread_stood_in_line_is_in_doubt(run, monkeypatch):
    async def main():
        late = 3_000_000
        async with listening() as (_, heard, far):
            far.sendall(b"a")
            await heard.until(1)
            hold()
            waited = ring()._queue.waited_ns()
            monkeypatch.setattr(ring()._queue, "waited_ns", lambda: waited + late)
            far.sendall(b"b")
            await heard.until(2)
            assert (heard[1][0].uncertainty_ns or 0) >= late
            assert heard[1][0].end_uncertainty_ns == 0
            far.sendall(b"c")
            await heard.until(3)
            assert heard[2][0].uncertainty_ns == 0, "it stood in line before that, and not since"

    run(main)


def test_no_read_began_before_the_one_before_it_on_the_same_socket(run, monkeypatch):
    async def main():
        async with listening() as (_, heard, far):
            waited = ring()._queue.waited_ns()
            monkeypatch.setattr(ring()._queue, "waited_ns", lambda: waited + 10**12)
            far.sendall(b"a")
            await heard.until(1)
            far.sendall(b"b")
            await heard.until(2)
            (first, _), (second, _) = heard
            assert second.uncertainty_ns is not None
            assert second.at - second.uncertainty_ns >= first.at

    run(main)


def test_a_segment_that_overtook_another_is_there_when_the_other_is(run):
    async def main():
        async with listening() as (taken, heard, far):
            far.sendall(b"a")
            await heard.until(1)
            [(first, _)] = heard
            taken.heard(Completion(taken._tag, b"b", 1, 0, more=True), Stamp(first.at - 5_000, 0, 0, kernel=True))
            second, _ = heard[1]
            assert (second.at, second.kernel) == (first.at, True)

    run(main)


def test_what_came_before_the_kernel_was_asked_is_in_doubt_since_then(run):
    async def main():
        near, far = pair()
        heard = Heard()
        with far:
            taken = make_reader(near, heard.arrive)
            written = now()
            far.sendall(b"early")
            hold()
            taken.resume_reading()
            await heard.until(5)
            [(stamp, _)] = heard
            assert stamp.uncertainty_ns is not None
            assert stamp.at - stamp.uncertainty_ns <= written
            taken.close()

    run(main)


def test_thick_reads_are_gathered_and_thin_ones_told_at_once(run, monkeypatch):
    patient(monkeypatch)

    async def main():
        async with listening() as (_, heard, far):
            far.sendall(b"a")
            await heard.until(1)
            assert ring()._gathering is None
            far.sendall(b"b")
            await heard.until(2)
            assert ring()._gathering is not None, "the second came right behind the first"
            far.sendall(b"c")
            await lying_there()
            assert heard.data == b"ab", "read, stamped, and left where it is"
            assert ring().look() == 1
            assert heard.data == b"abc"

    run(main)


def test_what_was_gathered_is_handed_over_and_gathering_ends_when_little_comes(run):
    async def main():
        async with listening() as (_, heard, far):
            parts = b"".join(b"%d\n" % number for number in range(50 * FEW))
            for part in parts.splitlines(keepends=True):
                far.sendall(part)
            await heard.until(len(parts))
            async with asyncio.timeout(60):
                while ring()._gathering is not None:
                    await asyncio.sleep(0.001)
            far.sendall(b"!")
            await heard.until(len(parts) + 1)
            assert heard.data == parts + b"!"

    run(main)


def test_nothing_is_gathered_while_somebody_is_in_haste(run, monkeypatch):
    patient(monkeypatch)

    async def main():
        async with listening() as (taken, heard, far):
            for number, data in enumerate((b"a", b"b"), start=1):
                far.sendall(data)
                await heard.until(number)
            assert ring()._gathering is not None
            far.sendall(b"c")
            await lying_there()
            taken.hasten(1)
            assert heard.data == b"abc", "whoever comes in a hurry finds what lies there"
            for number in range(4, 8):
                far.sendall(b"x")
                await heard.until(number)
            taken.hasten(-1)

    run(main)


def test_what_is_handed_over_may_ask_for_more_of_it(run):
    async def main():
        near, far = pair()
        heard = Heard()

        def arrive(stamp: Stamp, data: bytes) -> None:
            taken.look()
            heard.arrive(stamp, data)

        with far:
            taken = make_reader(near, arrive)
            taken.resume_reading()
            for number in range(9):
                far.sendall(b"%d" % number)
            hold()
            await heard.until(9)
            assert sorted(heard.data) == list(b"012345678"), "nothing is lost, nothing comes twice"
            taken.close()

    run(main)


def test_two_sockets_get_each_its_own(run):
    async def main():
        async with listening() as (_, first, far), listening() as (_, second, other):
            for number in range(20):
                (far if number % 2 else other).sendall(b"%d;" % number)
            odd, even = (b"".join(b"%d;" % number for number in range(begin, 20, 2)) for begin in (1, 0))
            await first.until(len(odd))
            await second.until(len(even))
            assert (first.data, second.data) == (odd, even)

    run(main)


def test_deaf_it_leaves_what_comes_in_the_kernel_and_listening_again_brings_it(run):
    async def main():
        async with listening() as (taken, heard, far):
            taken.pause_reading()
            taken.pause_reading()
            while taken._reading:
                await asyncio.sleep(0)
            far.sendall(b"meanwhile")
            written = now()
            hold()
            assert not ring().look()
            taken.resume_reading()
            await heard.until(9)
            [(stamp, data)] = heard
            assert data == b"meanwhile"
            assert stamp.uncertainty_ns is not None
            assert stamp.at - stamp.uncertainty_ns <= written

    run(main)


def test_word_of_an_earlier_asking_is_not_word_of_this_one(run, monkeypatch):
    async def main():
        async with listening() as (taken, heard, far):
            far.sendall(b"a")
            await heard.until(1)
            taken.pause_reading()
            while taken._reading:
                await asyncio.sleep(0)
            monkeypatch.setattr(ring(), "begin", lambda *_: None)
            taken.resume_reading()
            taken.armed = taken.armed[0], now()
            late = now() + 1
            taken.heard(Completion(taken._tag, b"b", 1, 0, more=True), Stamp(late, 0, 0, kernel=True))
            (first, _), (second, _) = heard
            assert second.uncertainty_ns == late - first.at

    run(main)


def test_listening_again_before_the_kernel_has_let_go_is_listening(run):
    async def main():
        async with listening() as (taken, heard, far):
            for _ in range(3):
                taken.pause_reading()
                taken.resume_reading()
            far.sendall(b"x")
            await heard.until(1)
            far.sendall(b"y")
            await heard.until(2)
            assert heard.data == b"xy"

    run(main)


def test_a_ring_without_buffers_reads_on_when_it_has_some_and_doubts_what_lay_there(run, monkeypatch):
    begun = []
    begin = UringReceiver.begin

    def counted(self: UringReceiver, *about: Any) -> None:
        begun.append(about)
        begin(self, *about)

    monkeypatch.setattr(UringReceiver, "begin", counted)
    monkeypatch.setattr(uring, "BUFFER_COUNT", 4)

    async def main():
        near, far = pair()
        heard = Heard()
        with far:
            taken = make_reader(near, heard.arrive)
            taken.resume_reading()
            size = 10 * DATA_SIZE
            far.sendall(bytes(size) + b"tail")
            while struct.unpack("i", fcntl.ioctl(far, termios.TIOCOUTQ, bytes(4)))[0]:
                pass  # until the kernel has it all, and not only the sender's half of it
            written = now()
            hold()
            await heard.until(size + 4)
            assert heard.data == bytes(size) + b"tail"
            assert len(begun) > 1
            stamp, _ = heard[-1]
            assert stamp.uncertainty_ns is not None
            assert stamp.at - stamp.uncertainty_ns <= written
            before = stamp
            async with asyncio.timeout(60):
                while stamp.at - (stamp.uncertainty_ns or 0) <= before.at:  # soon what comes is sure again
                    far.sendall(b"y")
                    await heard.until(len(heard.data) + 1)
                    before, stamp = stamp, heard[-1][0]
            taken.close()

    run(main)


def test_reads_that_share_a_stamp_may_all_have_come_since_the_stamp_before(run):
    """What lay in the kernel is one segment to it, and comes in several reads with the newest stamp."""

    async def main():
        near, far = pair()
        heard = Heard()
        with far, stamping_socket():
            taken = make_reader(near, heard.arrive)
            started = now()
            for _ in range(5):
                far.sendall(bytes(DATA_SIZE - 1))
            hold()
            taken.resume_reading()
            await heard.until(5 * (DATA_SIZE - 1))
            for stamp, data in heard:
                assert stamp.uncertainty_ns is not None
                if len(data) == DATA_SIZE:
                    assert stamp.end_uncertainty_ns == stamp.uncertainty_ns, (
                        "its end may be the beginning of something else"
                    )
            for (before, _), (stamp, _) in pairwise(heard):
                assert stamp.at - (stamp.uncertainty_ns or 0) <= max(started, before.at - (before.uncertainty_ns or 0))
            taken.close()

    run(main)


def test_an_end_is_handed_over_once_without_a_fault(run):
    async def main():
        async with listening() as (taken, heard, far):
            far.sendall(b"x")
            far.close()
            await heard.end()
            assert [data for _, data in heard] == [b"x", b""]
            assert taken.fault is None

    run(main)


def test_a_reset_is_a_fault(run):
    async def main():
        async with listening() as (taken, heard, far):
            far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            far.close()
            await heard.end()
            assert heard.data == b""
            assert taken.fault is not None
            assert taken.fault.errno == errno.ECONNRESET

    run(main)


@pytest.mark.parametrize("deaf", [False, True])
def test_closing_ends_the_connection_though_the_kernel_reads_it(run, deaf):
    async def main():
        async with listening() as (taken, heard, far):
            if deaf:
                taken.pause_reading()
            taken.close()
            far.settimeout(60)
            assert far.recv(1) == b""
            assert heard == []

    run(main)


def test_what_is_closed_before_the_kernel_was_told_reads_nobody_elses_socket(run):
    async def main():
        near, far = pair()
        heard = Heard()
        with far:
            early = make_reader(near, heard.arrive)
            early.resume_reading()
            early.close()
            async with listening() as (_, other, there):  # its socket may well have the number of the one closed
                there.sendall(b"mine")
                await other.until(4)
                assert other.data == b"mine"
            assert heard == []

    run(main)


def test_what_the_kernel_will_not_read_is_a_fault(run, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOMEM, "no memory")

    async def main():
        near, far = pair()
        heard = Heard()
        with far:
            taken = make_reader(near, heard.arrive)
            monkeypatch.setattr(Uring, "receive", refuse)
            taken.resume_reading()
            await heard.end()
            assert heard.data == b""
            assert taken.fault is not None
            assert taken.fault.errno == errno.ENOMEM
            taken.close()

    run(main)


def test_when_the_clock_was_set_there_is_no_stamp_to_go_by(run, monkeypatch):
    async def main():
        async with listening() as (_, heard, far):
            far.sendall(b"a")
            await heard.until(1)
            seen = now()
            ring()._clock._offset_ns -= 10 * STEP_NS
            far.sendall(b"b")
            await heard.until(2)
            stamp, _ = heard[1]
            assert (stamp.kernel, stamp.end_uncertainty_ns) == (False, stamp.uncertainty_ns)
            assert stamp.uncertainty_ns is not None
            assert stamp.at - stamp.uncertainty_ns <= seen
            far.sendall(b"c")
            await heard.until(3)
            assert heard[2][0].kernel

    run(main)


def test_without_stamps_the_loop_reads(run, monkeypatch):
    refuse_stamps(monkeypatch)

    async def main():
        near, far = pair()
        with far:
            taken = make_reader(near, Heard().arrive)
            assert isinstance(taken, SelectorReader)
            taken.close()

    run(main)


def test_a_loop_that_ends_leaves_no_thread_and_no_file():
    async def main():
        near, far = pair()
        with near, far:
            make_reader(near, Heard().arrive).resume_reading()

    with asyncio.Runner(loop_factory=EngineLoop) as runner:  # imports what it needs
        runner.run(main())
    files, threads = len(list(FILES.iterdir())), threading.active_count()
    for _ in range(3):
        with asyncio.Runner(loop_factory=EngineLoop) as runner:
            runner.run(main())
    assert len(list(FILES.iterdir())) == files
    assert threading.active_count() == threads


def test_where_there_is_no_ring_the_loop_is_one_without(monkeypatch):
    def missing(_: Uring) -> None:
        raise OSError(errno.ENOSYS, "no such call")

    monkeypatch.setattr(Uring, "__init__", missing)
    loop = EngineLoop()
    assert loop.ring is None
    assert reader_kind(loop) is ReaderKind.LOOP
    loop.close()
    loop.close()


@pytest.mark.parametrize(("granted", "who"), [(True, ReaderKind.REAL_TIME), (False, ReaderKind.KERNEL)])
def test_a_loop_says_who_reads(monkeypatch, granted, who):
    monkeypatch.setattr(ring_module, "request_realtime_priority", lambda: granted)
    loop = EngineLoop()
    assert reader_kind(loop) is who
    loop.close()


def in_a_thread(job):
    """What it gives in a thread of its own, which takes its claims with it."""
    found = []
    thread = threading.Thread(target=lambda: found.append(job()))
    thread.start()
    thread.join()
    return found[0]


def test_a_claim_is_granted_or_not_and_said():
    granted, policy = in_a_thread(lambda: (urgency.request_realtime_priority(), os.sched_getscheduler(0)))
    assert policy == (os.SCHED_RR if granted else os.SCHED_OTHER)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


@pytest.mark.parametrize("known", [True, False])
def test_a_claim_refused_leaves_the_thread_as_polite_as_it_was(monkeypatch, known):
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "refused")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    if not known:
        monkeypatch.setattr(urgency, "syscall", refuse)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    state = in_a_thread(
        lambda: (urgency.request_realtime_priority(), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))
    )
    assert state == (False, os.SCHED_OTHER, before)
