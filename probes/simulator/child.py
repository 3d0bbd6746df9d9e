"""The simulator as a child process: started for a demo, gone with its parent."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Final

GOODBYE_S: Final = 3.0
"""How long it may take to end once it is told to."""


@contextlib.asynccontextmanager
async def simulator_process() -> AsyncIterator[str]:
    """The base URL of a demo simulator in a process of its own, so that it does not disturb the stopwatch.

    Raises OSError or RuntimeError where it does not start. It ends when its standard input does.
    """
    child = _start()
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018  # both are pipes, as asked
    try:
        url = (await asyncio.to_thread(child.stdout.readline)).decode().strip()
        if not url:
            raise RuntimeError(f"the simulator ended with status {await asyncio.to_thread(child.wait)}")
        yield url
    finally:
        child.stdin.close()
        try:
            await asyncio.to_thread(child.wait, GOODBYE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            await asyncio.to_thread(child.wait)
        child.stdout.close()


def _start() -> "subprocess.Popen[bytes]":
    """By `subprocess` and threads: asyncio's own needs another kind of loop on Windows than the engine's."""
    return subprocess.Popen(  # this very program
        [sys.executable, "-m", "probes", "simulate"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
