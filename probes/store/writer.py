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
from probes.store.journal import Journal
from probes.store.outbox import Kept, Outbox
from probes.store.place import is_postgres, journal_folder
from probes.store.problem import StoreProblem
from probes.store.retention import FOREVER, Retention
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

    A problem of the store is a state to be shown, never an exception: samples wait and are tried again, in memory, for
    a database at another machine on disk. A store that was deleted is made anew. ``vantage`` names the place that
    records; what is past its ``retention`` is pruned. Raises ValueError for a URL that is no store's.
    """

    def __init__(
        self,
        url: str,
        *,
        vantage: str = "local",
        pragmas: Mapping[str, str | int] = PRAGMAS,
        capacity: int = CAPACITY,
        retention: Retention = FOREVER,
    ) -> None:
        sink = Sink(url, pragmas, retention)
        self._outbox = Outbox(sink, Journal(journal_folder(url, vantage))) if is_postgres(url) else None
        self._sink = self._outbox or sink
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
        # the first word is there with the store: that it can be written to is known before there is a sample
        self._beat: dict[str, Any] | None = {**self._recorder, "beat_at": _now_ms(), "status": "{}"}
        self._opened: asyncio.Future[StoreProblem | None] = asyncio.get_running_loop().create_future()
        self._since = time.monotonic() if self._outbox and self._outbox.waiting else None
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
        if self._since is None:
            self._since = time.monotonic()
        self._bound()
        self._wake.set()

    def beat(self, status_json: str) -> None:
        """Have the recorder's row say that it is alive, and how it is."""
        self._beat = {**self._recorder, "beat_at": _now_ms(), "status": status_json}
        self._wake.set()

    async def opened(self) -> StoreProblem | None:
        """Wait until the store was tried to be opened and written to for the first time; what went wrong then."""
        return await asyncio.shield(self._opened)

    def status(self) -> StoreStatus:
        """How the store is now."""
        waiting, dropped = len(self._waiting) + len(self._writing), self._dropped
        if self._outbox is not None:
            waiting, dropped = waiting + self._outbox.waiting, dropped + self._outbox.dropped
        since = None
        if waiting and self._since is not None:
            since = _now_ms() - int(1000 * (time.monotonic() - self._since))
        return StoreStatus(self._state, self._detail, self._stored, waiting, dropped, since)

    async def close(self, timeout: float) -> None:  # noqa: ASYNC109 - what is late is not cancelled but left behind
        """Write what waits, for at most ``timeout`` seconds, and close the file.

        `status` then tells what still waits on disk, and counts what was left in memory as dropped.
        """
        self._closing.set()
        self._wake.set()
        deadline = time.monotonic() + timeout
        await asyncio.wait({self._task}, timeout=timeout)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        if self._outbox is not None and self._waiting:  # the thread may still be waiting for the server
            with suppress(StoreProblem):
                await asyncio.to_thread(self._outbox.keep, [*self._waiting])
                self._waiting.clear()
        closed = asyncio.get_running_loop().run_in_executor(self._thread, self._sink.close)
        await asyncio.wait({closed}, timeout=max(RETRY_MIN_S, deadline - time.monotonic()))
        self._thread.shutdown(wait=False)
        self._dropped += len(self._waiting)
        self._waiting.clear()
        if self._outbox is None:  # else the thread, which may hang, puts on disk what it cannot store
            self._dropped += len(self._writing)
            self._writing = []

    async def _run(self) -> None:
        """Commit whenever something waits; after a problem try again, later each time."""
        retry_s = RETRY_MIN_S
        while True:
            if await self._commit():
                retry_s = RETRY_MIN_S
                if self._closing.is_set() and not self._waiting:
                    return
                await asyncio.sleep(SPACING_S)
                if not (self._outbox and self._outbox.waiting):
                    await self._idle()
            elif self._closing.is_set():
                await self._keep()
                if self._outbox and not self._waiting:
                    return  # all of it is safe
                await asyncio.sleep(RETRY_MIN_S)
            else:
                await self._hold_out(retry_s)
                retry_s = min(2 * retry_s, RETRY_MAX_S)

    async def _hold_out(self, seconds: float) -> None:
        """Wait so long, or for the end; meanwhile what comes is put on disk, where there is a place for it."""
        until = time.monotonic() + seconds
        while not self._closing.is_set() and (left := until - time.monotonic()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await (self._wake if self._outbox else self._closing).wait()
            await self._keep()

    async def _keep(self) -> None:
        """Have what waits in memory wait on disk, where there is a place for it."""
        if self._outbox is None:
            return
        self._wake.clear()
        if self._waiting:
            self._take(len(self._waiting))
            try:
                await asyncio.to_thread(self._outbox.keep, self._writing)
                self._forget_written()
            except StoreProblem as problem:
                self._detail = problem.detail
                self._put_back()

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
        self._take(min(BATCH, len(self._waiting)))
        if not self._waiting:
            self._wake.clear()
        began, behind = time.monotonic(), bool(self._waiting)
        beat, self._beat = self._beat, None
        loop = asyncio.get_running_loop()
        try:
            self._stored = await loop.run_in_executor(self._thread, self._sink.write, self._writing, beat)
        except StoreProblem as problem:
            self._state, self._detail = problem.state, problem.detail
            self._beat = self._beat or beat
            self._tell(problem)
            if isinstance(problem, Kept):
                self._forget_written()
            else:
                self._put_back()
            return False
        self._state, self._detail = "ok", ""
        self._forget_written()
        if not (behind or (self._outbox and self._outbox.waiting)):
            self._since = began if self._waiting else None  # what waits now came meanwhile
        self._tell(None)
        return True

    def _tell(self, problem: StoreProblem | None) -> None:
        """Say how the store was found, the first time."""
        if not self._opened.done():
            self._opened.set_result(problem)

    def _take(self, count: int) -> None:
        """Have the oldest of what waits be what is written now."""
        self._writing = [self._waiting.popleft() for _ in range(count)]

    def _put_back(self) -> None:
        """What could not be written waits again."""
        self._waiting.extendleft(reversed(self._writing))
        self._writing = []
        self._bound()

    def _forget_written(self) -> None:
        for entry in self._writing:
            entry.answer = None  # it is elsewhere: not to be held here any longer
        self._writing = []

    def _bound(self) -> None:
        """Drop the oldest samples beyond the capacity; those being written just now are safe."""
        while self._waiting and len(self._waiting) + len(self._writing) > self._capacity:
            self._waiting.popleft()
            self._dropped += 1


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
