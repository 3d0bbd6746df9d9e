"""How long `inftop best` takes as a process, beside a Python that does nothing, in turn on the same machine.

    python -m tests.bench.answers STORE GROUP [--rounds 20] [--words "--json"] [--command best]

STORE is a path or a URL. It prints medians in ms: of ``python -c pass``, of the command, of the reading alone (in a
process that has it all imported), of opening a PostgreSQL session with its driver, and the command's time without both,
as a multiple of ``python -c pass``, which is to be 5 at most.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from statistics import median

from probes.answers.read import read_now
from probes.store.location import is_postgres, url_of

COMMAND = "from tui.cli import main; main()"
DRIVER = "import time; a = time.perf_counter(); from probes.store.read import postgres; b = time.perf_counter(); "


def timed(action: Callable[[], object]) -> float:
    """How long it takes, in ms."""
    began = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - began)


def process(*words: str) -> Callable[[], object]:
    """Run this Python with these words."""
    return lambda: subprocess.run([sys.executable, *words], check=False, capture_output=True)


def connecting(url: str) -> float:
    """How long importing PostgreSQL's driver and opening a session take in a new process, in ms."""
    code = f"{DRIVER} postgres.connect({url!r}).close(); print(1000 * (time.perf_counter() - a))"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def reading(url: str, group: str | None) -> float:
    """How long a read takes, in ms; from PostgreSQL without opening the session."""
    if not is_postgres(url):
        return timed(lambda: read_now(url, group=group))
    from probes.store.read.postgres import connect

    def opened() -> None:
        with closing(connect(url)):
            pass

    return max(0.0, timed(lambda: read_now(url, group=group)) - timed(opened))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("group", nargs="?", help="of best; status has none")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--command", default="best")
    parser.add_argument("--words", default="", help="more words of the command")
    wanted = parser.parse_args()
    url = url_of(wanted.store)
    words = [wanted.command, *([wanted.group] if wanted.group else []), "--store", url, *wanted.words.split()]
    nothing, command, read, session = [], [], [], []
    read_now(url, group=wanted.group)  # the files are in the system's cache
    for _ in range(wanted.rounds):
        nothing.append(timed(process("-c", "pass")))
        command.append(timed(process("-c", COMMAND, *words)))
        read.append(reading(url, wanted.group))
        session.append(connecting(url) if is_postgres(url) else 0.0)
    alone, whole, store, open_ = (median(one) for one in (nothing, command, read, session))
    print(f"python -c pass {alone:.1f}, inftop {' '.join(words[:2])} {whole:.1f}, of which reading {store:.1f}")
    if is_postgres(url):
        print(f"  and driver and session {open_:.1f}")
    print(f"without these {(whole - store - open_) / alone:.2f} times python -c pass")


if __name__ == "__main__":
    main()
