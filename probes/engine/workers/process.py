"""One worker as a child process, from the side of the engine: its pipes, and when it was last heard."""

import asyncio
import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

from probes.engine.workers.messages import FromWorker, ToWorker, decode_from_worker
from probes.feed.lines import as_line
from probes.feed.pipe import read_lines

MODULE: Final = "probes.engine.workers.worker"

EXIT_S: Final = 1.0
"""Seconds that a worker whose output has ended may take to end itself."""


class WorkerProcess:
    """A worker that runs. ``on_message`` is called with all that it says, then ``on_end`` with its exit status.

    Both are called on the running loop; neither once it has been `abandon`ed. It has no key but those that it finds
    itself, in the environment that it shares or the keyring, and its standard error is ours. It ends by itself when
    this process does: its standard input ends then.
    """

    def __init__(self, on_message: Callable[[FromWorker], None], on_end: Callable[[int], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        self._is_abandoned = False
        self.heard = time.monotonic()
        self.has_spoken = False
        self.ended = asyncio.Event()
        self._process = subprocess.Popen(  # noqa: S603  # this very program
            [sys.executable, "-P", "-m", MODULE],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl+C at a terminal is for the engine, which ends its workers
        )
        assert self._process.stdout is not None  # noqa: S101  # a pipe, as requested
        self._outgoing: queue.SimpleQueue[ToWorker | None] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="to a worker", daemon=True).start()
        read_lines(self._process.stdout, decode_from_worker, self._take, self._end)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def send(self, message: ToWorker) -> None:
        """Have a message written; it never waits."""
        self._outgoing.put(message)

    def kill(self) -> None:
        """End it at once, also where it is stopped."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def abandon(self) -> None:
        """End it at once and hear nothing of it any more."""
        self._is_abandoned = True
        self.kill()

    def _take(self, message: FromWorker) -> None:
        if not self._is_abandoned:
            self.heard, self.has_spoken = time.monotonic(), True
            self._on_message(message)

    def _end(self) -> None:
        self._outgoing.put(None)
        self._reaping = asyncio.create_task(self._reap())

    async def _reap(self) -> None:
        try:
            status = await asyncio.to_thread(self._process.wait, EXIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            status = await asyncio.to_thread(self._process.wait)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self.ended.set()
        if not self._is_abandoned:
            self._on_end(status)

    def _write(self) -> None:
        """Write what is to be sent, in a thread: a worker that is frozen does not read.

        Whatever ends this closes the worker's input, which ends the worker: it is replaced then.
        """
        pipe = self._process.stdin
        assert pipe is not None  # noqa: S101  # as requested
        with contextlib.suppress(OSError), pipe:
            while (message := self._outgoing.get()) is not None:
                left = memoryview(as_line(message))
                while left:
                    left = left[pipe.write(left) or 0 :]
