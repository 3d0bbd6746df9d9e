"""A recorder killed at any moment: the file stays whole, and what was put more than 100 ms before is in it."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from probes.surroundings import steal_ms
from tests.store.stores import ask, fill

KILLS = 50
PROMISE_NS = 100_000_000
IO_PRESSURE = Path("/proc/pressure/io")
ROOT = Path(__file__).parents[2]


class Said(NamedTuple):
    """What a recorder said after it had put a sample."""

    number: int
    at_ns: int
    state: str


@pytest.fixture
def nursery() -> Iterator[subprocess.Popen]:
    """A process that starts recorders, see there."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.store.put_until_killed"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    ) as process:  # fmt: skip
        yield process
        process.stdin.close()


def test_a_killed_recorder_loses_at_most_the_last_100_ms(tmp_path, nursery):
    chance = random.Random(20)
    judged, late, began_ns = 0, [], stood_still_ns()
    for kill in range(KILLS):
        path = tmp_path / f"{kill // 10}.db"  # ten to a store: the first two while it is still being made
        stood_ns = stood_still_ns()
        said, killed_ns = record_and_kill(nursery, path, lines=chance.randint(1, 8 if kill % 10 < 2 else 80))
        fill(path, [])  # opens, as the next recorder would
        assert ask(path, "PRAGMA integrity_check") == [("ok",)]
        stored = [row[0] for row in ask(path, "SELECT started_at FROM sample ORDER BY id")]
        assert stored == list(range(len(stored)))
        # a machine that stood still cannot keep time: allow what the recorder itself was late in putting
        still_ns = max((b.at_ns - a.at_ns for a, b in pairwise(said)), default=0)
        stood_ns = stood_still_ns() - stood_ns
        still_ns += stood_ns
        due = [one.number for one in said if one.state == "ok" and killed_ns - one.at_ns > PROMISE_NS + still_ns]
        judged += bool(due)
        if due and max(due) >= len(stored):
            late.append(f"kill {kill}: {len(stored)} stored, {max(due)} was due")
            assert stood_ns > PROMISE_NS / 10, late  # a machine that did not stand still is no excuse
    assert len(late) <= KILLS / 25, late  # of what stood still, not every stop is counted
    if stood_still_ns() - began_ns > KILLS * PROMISE_NS / 4 and judged <= KILLS / 4:
        pytest.skip("this machine stood still too often to show how much is lost")
    assert judged > KILLS / 4  # else the kills came too early to show anything


def stood_still_ns() -> int:
    """How long this machine had no processor or waited for its disk, since it was started (proc_pressure(5))."""
    try:
        some, _ = IO_PRESSURE.read_text().splitlines()
    except OSError:
        some = "total=0"
    return round((steal_ms() or 0.0) * 1e6) + int(some.rpartition("total=")[2]) * 1_000


def record_and_kill(nursery: subprocess.Popen, path: Path, lines: int) -> tuple[list[Said], int]:
    """Kill a recorder after so many lines: all that it said, and when it was killed."""
    first = ask(path, "SELECT count(*) FROM sample")[0][0] if path.exists() else 0
    nursery.stdin.write(f"{path} {first}\n")
    recorder = int(nursery.stdout.readline())
    said = [nursery.stdout.readline() for _ in range(lines)]
    killed_ns = time.monotonic_ns()
    os.kill(recorder, signal.SIGKILL)
    while (line := nursery.stdout.readline()) != "dead\n":
        said.append(line)
    words = [line.split() for line in said]
    return [Said(int(number), int(at), state) for number, at, state in words], killed_ns
