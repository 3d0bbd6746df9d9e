"""The simulator as a child process: started for a demo, gone with its parent."""

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
"""How long it may take to end once it is told to."""


class Simulated(NamedTuple):
    """The base URL of a simulator, and a folder for what is recorded of it, which goes when it does."""

    url: str
    folder: Path


@contextlib.asynccontextmanager
async def simulator_process() -> AsyncIterator[Simulated]:
    """A demo simulator in a process of its own, so that it does not disturb the stopwatch.

    Raises OSError or RuntimeError where it does not start. It ends when its standard input does, and removes the folder
    then: also where we were killed.
    """
    child = _start()
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018  # both are pipes, as asked
    folder = ""
    try:
        url, _, folder = os.fsdecode(await asyncio.to_thread(child.stdout.readline)).rstrip().partition(" ")
        if not url:
            raise RuntimeError(f"the simulator ended with status {await asyncio.to_thread(child.wait)}")
        yield Simulated(url, Path(folder))
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
    """By `subprocess` and threads: asyncio's own needs another kind of loop on Windows than the engine's."""
    return subprocess.Popen(  # this very program
        [sys.executable, "-m", "probes", "simulate"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # what ends us and our group must leave it the time to tidy up
    )
