"""The simulator as a child process: started for a demo, ended with its parent."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, NamedTuple

GOODBYE_S: Final = 3.0
"""How long it may take to end after its standard input was closed."""


class SimulatorAddress(NamedTuple):
    """The base URL of a simulator, and a folder for what is recorded of it, which is removed when it ends."""

    url: str
    folder: Path


@contextlib.asynccontextmanager
async def simulator_process() -> AsyncIterator[SimulatorAddress]:
    """A demo simulator in a process of its own, so that it does not disturb the stopwatch.

    Raises OSError or RuntimeError where it does not start. It ends, and removes its folder, when its standard input is
    closed: also where this process was killed.
    """
    child = _start()
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018  # both are pipes, as requested below
    folder = ""
    try:
        url, _, folder = os.fsdecode(await asyncio.to_thread(child.stdout.readline)).rstrip().partition(" ")
        if not url:
            raise RuntimeError(f"the simulator ended with status {await asyncio.to_thread(child.wait)}")
        yield SimulatorAddress(url, Path(folder))
    finally:
        child.stdin.close()
        try:
            await asyncio.to_thread(child.wait, GOODBYE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            await asyncio.to_thread(child.wait)
        child.stdout.close()
        if folder:  # it had no time to
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _start() -> "subprocess.Popen[bytes]":
    """Start it with `subprocess` and threads: asyncio's own needs another event loop on Windows than the engine's."""
    return subprocess.Popen(  # this very program
        [sys.executable, "-P", "-m", "probes", "simulate"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a signal to our process group must leave it the time to tidy up
    )
