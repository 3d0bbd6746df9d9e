"""How long a thread stood in line for a processor, as the system counts it."""

import os

import pytest

from probes.sockets.linux import RunQueue
from tests.sockets.pairs import on_linux


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
