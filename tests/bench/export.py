"""Export to CSV beside the sqlite3 shell's own: the same rows of the same store, in turns, and what memory it takes.

    python -m tests.bench.export [--runs 3] [--samples 1000000] [--formats csv jsonl parquet]

The store is made up of 20,000 samples, copied. What counts is the ratio of the medians, and the resident memory.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.bench.histories import fill, multiply
from tests.bench.startup import NAMES, configuration

BASE = 20_000


class Cost(NamedTuple):
    """What a command took: seconds, seconds of a processor, the most memory it had resident in MB."""

    wall: float
    cpu: float
    most: float


def measure(command: list[str]) -> Cost:
    """Run a command to its end. Its own memory is asked for: what `wait4` tells begins with that of this process."""
    started, most = time.perf_counter(), 0.0
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    ended, status, used = 0, 0, None
    while not ended:
        most = max(most, resident_most(process.pid))
        time.sleep(0.01)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    taken = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return Cost(taken, used.ru_utime + used.ru_stime, most)


def resident_most(pid: int) -> float:
    """The most memory that a process has had resident so far, in MB (Linux); 0 of one that has ended."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--formats", nargs="+", default=["csv"], choices=["csv", "jsonl", "parquet"])
    wanted = parser.parse_args()
    shell = shutil.which("sqlite3")
    if shell is None:
        raise SystemExit("no sqlite3 shell on this machine")
    with tempfile.TemporaryDirectory() as one:
        folder = Path(one)
        config, store = configuration(folder), folder / "history.db"
        fill(store, NAMES, min(BASE, wanted.samples), 60.0)
        multiply(store, max(1, wanted.samples // BASE))
        name = "the sqlite3 shell, csv"
        said = [f".once {folder / 'shell.csv'}", "SELECT * FROM samples"]
        ours = [sys.executable, "-m", "probes", "--config", str(config), "export", "--since", "99999d"]
        contests = {name: [shell, "-readonly", "-csv", "-header", str(store), *said]}
        contests |= {
            f"inftop export, {kind}": [*ours, "--format", kind, "-o", str(folder / f"ours.{kind}")]
            for kind in wanted.formats
        }
        found: dict[str, list[Cost]] = {each: [] for each in contests}
        for turn in range(wanted.runs + 1):
            for each, command in contests.items():
                figures = measure(command)
                if turn:  # the first turn warms the file cache
                    found[each].append(figures)
        rows = (folder / "shell.csv").read_bytes().count(b"\n") - 1
    print(f"{rows:,} samples")
    base, base_cpu = (statistics.median(each) for each in list(zip(*found[name], strict=True))[:2])
    for each, runs in found.items():
        wall, cpu, _ = map(statistics.median, zip(*runs, strict=True))
        speed = f"{base / wall:5.0%} of the shell's speed, {base_cpu / cpu:5.0%} by processor time"
        print(
            f"{each:<24} {wall:7.2f} s  {rows / wall:10,.0f} rows/s  {speed}  {max(one.most for one in runs):4.0f} MB"
        )


if __name__ == "__main__":
    main()
