"""Runs a selftest: the server as a process, for each load the engine and the screen, then the comparison."""

import contextlib
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from probes import __version__
from probes.certificate import Certificate, MeasuredLoad
from probes.format import plural
from probes.measure.cpu_steal import steal_ms
from probes.selftest.comparison import compare
from probes.selftest.load import LOADS, EngineSettings, Load, ProcessFailed
from probes.selftest.observation import Observation
from probes.selftest.pacer import Truth
from probes.selftest.terminal import on_terminal

QUICK_S: Final = 1.5
FULL_S: Final = 25.0
"""How long each load is measured, from `WARM_UP_S` after its engine has begun."""

WARM_UP_S: Final = 0.5
STARTING_S: Final = 60.0
POLL_S: Final = 0.02

Screen = Callable[[Path], Sequence[str]]
"""The command of a dashboard whose engine measures the load of the `EngineSettings` in this file."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running ground-truth server."""

    process: subprocess.Popen[str]
    plain_url: str
    tls_url: str

    def finish(self) -> list[Truth]:
        """End it. Returns what it knows of every answer."""
        output, _ = self.process.communicate(timeout=60)
        return [Truth.from_json(json.loads(line)) for line in output.splitlines()]


def selftest(
    screen: Screen | None, *, quick: bool, narrate: Callable[[str], None], loads: Sequence[Load] = LOADS
) -> Certificate:
    """Measure; some 15 s (``quick``) or two minutes. ``screen`` is the dashboard to redraw meanwhile, None for none.

    Raises OSError and ProcessFailed where a process of it does not start or does not end well.
    """
    began, stolen = time.monotonic(), steal_ms()
    seen: list[list[Observation]] = []
    try:
        with _server() as server:
            for number, load in enumerate(loads, start=1):
                narrate(f"{number}/{len(loads)}  {load.name} tokens/s")
                seen.append(_play(load, server, screen, QUICK_S if quick else FULL_S))
            truths = server.finish()
    except subprocess.TimeoutExpired as error:
        raise ProcessFailed(f"a process of the selftest did not end within {error.timeout:g} s") from error
    measured = [MeasuredLoad(load.name, compare(one, truths)) for load, one in zip(loads, seen, strict=True)]
    taken = steal_ms()
    passed_ms = (time.monotonic() - began) * 1000 * (os.cpu_count() or 1)
    return Certificate(
        measured_at=time.time_ns() // 1_000_000,
        host=socket.gethostname(),
        system=f"{platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"{plural(os.cpu_count() or 1, 'CPU')}",
        version=__version__,
        screen=screen is not None,
        quick=quick,
        measured=tuple(measured),
        cpu_steal_percent=None if taken is None or stolen is None else round((taken - stolen) / passed_ms * 100, 2),
    )


def _play(load: Load, server: Server, screen: Screen | None, seconds: float) -> list[Observation]:
    """What the engine sees of a load in so many seconds."""
    with tempfile.TemporaryDirectory(prefix="inftop-selftest-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        stage, seen = folder / "stage.json", folder / "seen.jsonl"
        store = f"sqlite:///{folder / 'history.db'}"
        EngineSettings(load, server.plain_url, server.tls_url, store, str(seen)).write(stage)
        with _engine(stage) if screen is None else _screen(screen(stage)) as process:
            _wait_for(seen, process)
            time.sleep(WARM_UP_S + seconds)
        lines = seen.read_text(encoding="utf-8").splitlines()
        return [Observation.from_json(json.loads(line)) for line in lines]


def _python(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "probes", *words]


@contextlib.contextmanager
def _server() -> Iterator[Server]:
    with subprocess.Popen(  # noqa: S603  # our own interpreter and modules
        _python("truth"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None  # noqa: S101  # a pipe, as asked
            urls = [process.stdout.readline().strip() for _ in range(2)]
            if not all(urls):
                raise ProcessFailed("the ground-truth server did not start")
            yield Server(process, *urls)
        finally:
            process.kill()


def _wait_for(seen: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the engine has begun: a slow machine takes its time, and that is not measured."""
    deadline = time.monotonic() + STARTING_S
    while not seen.exists():
        if process.poll() is not None:
            raise ProcessFailed(f"the engine did not begin: its process ended with status {process.returncode}")
        if time.monotonic() > deadline:
            raise ProcessFailed(f"the engine did not begin within {STARTING_S:g} s")
        time.sleep(POLL_S)


@contextlib.contextmanager
def _screen(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The dashboard on a terminal of its own, with the engine as its child."""
    with on_terminal(command, os.environ) as terminal:
        yield terminal.process


@contextlib.contextmanager
def _engine(stage: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The engine without a screen; it ends with its standard input."""
    process = subprocess.Popen(  # noqa: S603  # our own interpreter and modules
        _python("measure", str(stage)), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        yield process
        process.communicate(timeout=60)
        if process.returncode:
            raise ProcessFailed(f"the engine ended with status {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
