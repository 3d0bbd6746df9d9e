"""Real-time priority, granted or refused, and how long a thread has waited for a processor, as Linux counts it."""

import errno
import os
import threading

import pytest

from probes.sockets import linux
from probes.sockets.linux import RunQueue
from tests.sockets.pairs import needs_io_uring, on_linux


@on_linux
def test_the_systems_count_of_waiting_grows_and_its_file_is_closed():
    queue = RunQueue()
    first = queue.waited_ns()
    assert 0 <= first <= queue.waited_ns()
    file = queue._file
    queue.close()
    queue.close()
    assert queue.waited_ns() == 0
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(file)


def test_without_such_a_count_nothing_is_known_of_it(monkeypatch):
    def missing(*_: object) -> int:
        raise FileNotFoundError

    monkeypatch.setattr(os, "open", missing)
    queue = RunQueue()
    assert queue.waited_ns() == 0
    queue.close()


def in_a_thread(job):
    """What it returns in a thread of its own, whose priority ends with it."""
    found = []
    thread = threading.Thread(target=lambda: found.append(job()))
    thread.start()
    thread.join()
    return found[0]


@needs_io_uring
def test_real_time_priority_is_granted_or_not_and_the_answer_says_so():
    granted, policy = in_a_thread(lambda: (linux.request_realtime_priority(), os.sched_getscheduler(0)))
    assert policy == (os.SCHED_RR if granted else os.SCHED_OTHER)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


@needs_io_uring
@pytest.mark.parametrize("known", [True, False])
def test_a_thread_that_is_refused_real_time_keeps_its_policy_and_niceness(monkeypatch, known):
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "refused")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    if not known:
        monkeypatch.setattr(linux, "syscall", refuse)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    state = in_a_thread(
        lambda: (linux.request_realtime_priority(), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))
    )
    assert state == (False, os.SCHED_OTHER, before)
