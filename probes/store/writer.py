"""Writer: takes samples without waiting, commits them from one thread, keeps them while the store cannot be used."""

import asyncio
import os
import socket
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

from probes import __version__
from probes.frames import StoreState, StoreStatus
from probes.sample import Sample
from probes.store.database import PRAGMAS
from probes.store.problem import StoreProblem
from probes.store.sink import Entry, Sink

SPACING_S: Final = 0.02
"""From one commit to the next: a sample alone is committed at once, those that come together share a commit."""

BATCH: Final = 2_000
"""Samples in one transaction at most: a long backlog is written in steps that each take well under 100 ms."""

CAPACITY: Final = 50_000
"""Samples kept in memory at most while the store cannot be used; then the oldest are dropped, and counted."""

STEP_S: Final = 0.2
"""Between two steps of upkeep: it is never urgent, and the samples that come meanwhile are not to wait for it."""

UPKEEP_S: Final = 60.0
"""How often it is looked whether the store needs upkeep."""

RETRY_MIN_S: Final = 0.2
RETRY_MAX_S: Final = 5.0


class Writer:
    """The one who writes the store at ``url``, on the event loop that runs when it is made, never blocking that loop.

    A problem of the store is a state to be shown, never an exception: samples wait in memory and are tried again, and
    a store that was deleted is made anew. ``vantage`` names the place that records. Raises ValueError for a URL that
    is no store's.
    """

    def __init__(
        self,
        url: str,
        *,
        vantage: str = "local",
        pragmas: Mapping[str, str | int] = PRAGMAS,
        capacity: int = CAPACITY,
    ) -> None:
        self._sink = Sink(url, pragmas)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._capacity = capacity
        self._waiting: deque[Entry] = deque()
        self._writing: list[Entry] = []
        self._answered: dict[str, Entry] = {}
        self._recorder = {
            "vantage": vantage,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "version": __version__,
            "started_at": _now_ms(),
        }
        self._beat: dict[str, Any] | None = None
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._state: StoreState = "opening"
        self._detail = ""
        self._stored = 0
        self._dropped = 0
        self._task = asyncio.get_running_loop().create_task(self._run(), name="store writer")

    def put(self, sample: Sample, answer: str | None) -> None:
        """Have a sample stored, and the text of its answer in place of the endpoint's last one."""
        entry = Entry(sample, answer)
        if answer is not None:
            if older := self._answered.get(sample.endpoint):
                older.answer = None  # only the last is kept: waiting texts stay few, however long the store is away
            self._answered[sample.endpoint] = entry
        self._waiting.append(entry)
        self._bound()
        self._wake.set()

    def beat(self, status_json: str) -> None:
        """Have the recorder's row say that it is alive, and how it is."""
        self._beat = {**self._recorder, "beat_at": _now_ms(), "status": status_json}
        self._wake.set()

    def status(self) -> StoreStatus:
        """How the store is now."""
        waiting = len(self._waiting) + len(self._writing)
        return StoreStatus(self._state, self._detail, self._stored, waiting, self._dropped)

    async def close(self, timeout: float) -> None:  # noqa: ASYNC109 - what is late is not cancelled but left behind
        """Write what waits, for at most ``timeout`` seconds, and close the file. `status` then tells what was left."""
        self._closing.set()
        self._wake.set()
        deadline = time.monotonic() + timeout
        await asyncio.wait({self._task}, timeout=timeout)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        closed = asyncio.get_running_loop().run_in_executor(self._thread, self._sink.close)
        await asyncio.wait({closed}, timeout=max(RETRY_MIN_S, deadline - time.monotonic()))
        self._thread.shutdown(wait=False)

    async def _run(self) -> None:
        """Commit whenever something waits; after a problem try again, later each time."""
        retry_s = RETRY_MIN_S
        while True:
            if await self._commit():
                retry_s = RETRY_MIN_S
                if self._closing.is_set() and not self._waiting:
                    return
                await asyncio.sleep(SPACING_S)
                await self._idle()
            elif self._closing.is_set():
                await asyncio.sleep(RETRY_MIN_S)
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(retry_s):
                        await self._closing.wait()
                retry_s = min(2 * retry_s, RETRY_MAX_S)

    async def _idle(self) -> None:
        """Wait for something to write, and meanwhile keep the store tidy."""
        loop = asyncio.get_running_loop()
        while not self._wake.is_set():
            try:
                more = await loop.run_in_executor(self._thread, self._sink.tidy)
            except StoreProblem:  # the next commit will say what is wrong
                more = False
            with suppress(TimeoutError):
                async with asyncio.timeout(STEP_S if more else UPKEEP_S):
                    await self._wake.wait()

    async def _commit(self) -> bool:
        """Write one batch in the thread; whether it is in the store."""
        self._writing = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        if not self._waiting:
            self._wake.clear()
        beat, self._beat = self._beat, None
        loop = asyncio.get_running_loop()
        try:
            self._stored = await loop.run_in_executor(self._thread, self._sink.write, self._writing, beat)
        except StoreProblem as problem:
            self._state, self._detail = problem.state, problem.detail
            self._waiting.extendleft(reversed(self._writing))
            self._writing = []
            self._beat = self._beat or beat
            self._bound()
            return False
        self._state, self._detail = "ok", ""
        for entry in self._writing:
            entry.answer = None  # stored: not to be held here any longer
        self._writing = []
        return True

    def _bound(self) -> None:
        """Drop the oldest samples beyond the capacity; those being written just now are safe."""
        while self._waiting and len(self._waiting) + len(self._writing) > self._capacity:
            self._waiting.popleft()
            self._dropped += 1


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
