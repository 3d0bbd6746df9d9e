"""The first two minutes: key presses and seconds from the start of inftop to the first stored sample, in fresh homes.

    python -m tests.bench.first_sample [--runs 3]

Three homes: one has a key in its environment, one a server on this machine, one has nothing, and an address is pasted.
The provider is simulated on this machine, behind a base URL of the environment or at an address; the program is the
real one, in a terminal. A key is pressed as soon as the screen shows what it acts on, so the seconds are the machine's
own. A paste counts as one press.
"""

import argparse
import contextlib
import os
import socket
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from probes.simulator.behaviour import Behaviour
from tests.bench.terminal import Program, running
from tests.servers.apart import simulating_apart

INFTOP = [sys.executable, "-m", "tui"]

MOST_PRESSES = 6
MOST_S = 10.0
"""What is aimed at."""

KNOWN_PORTS = (8000, 8080, 1234, 30000, 11434)

SHIPPED = "openai/gpt-oss-120b"
"""A model of the shipped configuration, at Groq."""

LOCAL = "qwen3-8b"

Step = tuple[str, str]
"""What the screen shows, and what is typed then."""


def pasted(text: str) -> str:
    """A text as a terminal sends it when it is pasted."""
    return f"\x1b[200~{text}\x1b[201~"


def free_port() -> int:
    """A port that inftop looks at and nobody listens on. Raises RuntimeError where there is none."""
    for port in KNOWN_PORTS:
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise RuntimeError("every port that inftop looks at is taken")


def stored(home: Path) -> int:
    """The samples in a home's store that are ok."""
    path = home / "data" / "inftop" / "history.db"
    if not path.exists():
        return 0
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as at,
    ):
        return int(at.execute("select count(*) from samples where outcome = 'ok'").fetchone()[0])
    return 0


def first_sample(program: Program, home: Path, steps: Sequence[Step]) -> float:
    """Seconds from the start until a sample is stored, each step taken as soon as it can be."""
    began = time.monotonic()
    for shown, typed in steps:
        program.seen(shown)
        program.press(typed)
    while not stored(home):
        if time.monotonic() - began > 60:
            raise TimeoutError("no sample was stored within a minute")
        time.sleep(0.01)
    return time.monotonic() - began


@contextlib.contextmanager
def fresh_home() -> Iterator[tuple[Path, dict[str, str]]]:
    """A home that nobody has used, and the environment of it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        places = {f"XDG_{name.upper()}_HOME": str(home / name) for name in ("config", "data", "state", "cache")}
        yield home, {"HOME": folder, **places, "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


def one_key() -> tuple[int, float]:
    """A key in the environment: the dashboard begins at once."""
    with simulating_apart({SHIPPED: Behaviour()}) as provider, fresh_home() as (home, environment):
        keys = {"GROQ_API_KEY": "gsk_of-a-benchmark", "GROQ_BASE_URL": provider.url}
        with running(INFTOP, env=environment | keys) as program:
            return 0, first_sample(program, home, [])


def a_server() -> tuple[int, float]:
    """A server on this machine: Enter on what was found."""
    steps = [(LOCAL, "\r")]
    with (
        simulating_apart({LOCAL: Behaviour()}, free_port()),
        fresh_home() as (home, environment),
        running(INFTOP, env=environment) as program,
    ):
        return len(steps), first_sample(program, home, steps)


def nothing() -> tuple[int, float]:
    """Nothing at all: an address is pasted, its model is tried and watched."""
    with simulating_apart({LOCAL: Behaviour()}) as server, fresh_home() as (home, environment):
        address = server.url.removesuffix("/v1")
        steps = [
            ("add an endpoint", "a"),
            ("Nothing is written before", pasted(address)),
            ("ask what answers there", "\r"),
            (LOCAL, "\r"),
            ("It answers", "\r"),
        ]
        with running(INFTOP, env=environment) as program:
            return len(steps), first_sample(program, home, steps)


HOMES = {"one key in the environment": one_key, "a server on this machine": a_server, "nothing at all": nothing}


def main() -> int:
    """Measure and print; 1 where a home needs more presses or seconds than is aimed at."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    wanted = parser.parse_args()
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")) or name.startswith("INFTOP_"):
            del os.environ[name]
    missed = False
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, measure in HOMES.items():
            found = [measure() for _ in range(wanted.runs)]
            seconds = [each for _, each in found]
            presses = found[0][0]
            missed |= presses > MOST_PRESSES or max(seconds) > MOST_S
            told = f"median {statistics.median(seconds):5.2f} s  max {max(seconds):5.2f} s"
            print(f"{name:<28} {presses} key presses  {told}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
