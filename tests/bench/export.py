"""Export to CSV beside the sqlite3 shell's own: the same rows of the same store, in turns, and what memory it takes.

    python -m tests.bench.export [--runs 3] [--samples 1000000] [--formats csv jsonl parquet]

The store is made up of 20,000 samples, copied. What counts is the ratio of the medians, and the resident memory.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.histories import fill, multiply
from tests.bench.startup import NAMES, configuration

BASE = 20_000


def measure(command: list[str]) -> tuple[float, float]:
    """The seconds that a command takes, and the most memory it has resident, in MB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    taken = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return taken, used.ru_maxrss / 1024


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
        found: dict[str, list[tuple[float, float]]] = {each: [] for each in contests}
        for turn in range(wanted.runs + 1):
            for each, command in contests.items():
                figures = measure(command)
                if turn:  # the first turn warms the file cache
                    found[each].append(figures)
        rows = (folder / "shell.csv").read_bytes().count(b"\n") - 1
    print(f"{rows:,} samples")
    base = statistics.median(taken for taken, _ in found[name])
    for each, runs in found.items():
        taken, most = statistics.median(taken for taken, _ in runs), max(memory for _, memory in runs)
        speed = f"{base / taken:6.0%} of the shell's speed"
        print(f"{each:<24} {taken:7.2f} s  {rows / taken:10,.0f} rows/s  {speed}  {most:4.0f} MB resident")


if __name__ == "__main__":
    main()
