"""Attached: reading along with a recorder that is not ours, by asking its store what is new."""

import asyncio
import contextlib
import json
import time
from dataclasses import replace
from typing import Any, Final

from probes.checked import checked
from probes.frames import Command, EngineStatus, Frame, Hello, StoreStatus, WatchStatus, engine_status
from probes.race.news import RaceCommand
from probes.sample import Sample
from probes.store.problem import StoreProblem
from probes.store.reader import StoreReader
from tui.messages import RecorderJoined, SourceLost
from tui.source import Deliver

POLL_S: Final = 0.5
GONE_AFTER_MS: Final = 12_000
"""A recorder shows itself in the store every five seconds; so long without is its end."""

BATCH: Final = 2_000
FIRST_LOOK_MS: Final = 120_000
"""The first look reaches back a little: whoever read the store's past before it must not miss what came between."""


class Attached:
    """The source of a screen whose store another recorder holds. It reads, and commands nothing.

    `run` ends when the recorder has not shown itself for `GONE_AFTER_MS`.
    """

    def __init__(self, hello: Hello) -> None:
        self._hello = hello
        self._reader = StoreReader(hello.store_url)
        self._closing = asyncio.Event()
        self._after: int | None = None
        self._stored = 0

    async def run(self, deliver: Deliver) -> None:
        """Deliver what the recorder stores, and how it says it is, twice a second."""
        deliver(RecorderJoined(self._hello.holder or "another recorder"))
        try:
            while not self._closing.is_set():
                frame = await asyncio.to_thread(self._poll)
                if frame is None:
                    deliver(SourceLost("the recorder has ended", retry_at=_now()))
                    return
                deliver(frame)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), POLL_S)
        finally:
            self._reader.close()

    def send(self, command: Command | RaceCommand) -> bool:  # noqa: ARG002 - the protocol's signature
        """Nobody here takes commands."""
        return False

    async def close(self) -> None:
        """End `run` at its next poll."""
        self._closing.set()

    def _poll(self) -> Frame | None:
        """One look into the store; None where the recorder is gone. A store that cannot be read is a state."""
        now = _now()
        try:
            recorder = self._reader.recorder()
            if recorder is not None and now - recorder.beat_at > GONE_AFTER_MS:
                return None
            engine, watches = status_of("" if recorder is None else recorder.status)
            samples = self._new_samples()
            answers = self._reader.answers() if samples else None
        except StoreProblem as problem:
            return Frame(now, EngineStatus(StoreStatus(problem.state, problem.detail, self._stored)), ())
        store = replace(engine.store, stored=max(engine.store.stored, self._stored))
        return Frame(now, replace(engine, store=store), watches, tuple(samples), answers)

    def _new_samples(self) -> list[Sample]:
        """What was stored since the last look; at the first look the last two minutes."""
        if self._after is None:
            self._after = self._reader.last_id()
            self._stored = self._reader.count()
            return list(self._reader.samples(_now() - FIRST_LOOK_MS))
        rows = self._reader.after(self._after, BATCH)
        if rows:
            self._after = rows[-1][0]
            self._stored += len(rows)
        return [sample for _, sample in rows]


def status_of(text: str) -> tuple[EngineStatus, tuple[WatchStatus, ...]]:
    """The recorder's own words on its engine and its watches; a status that cannot be read is an empty one."""
    try:
        record: dict[str, Any] = json.loads(text)
        return engine_status(record["engine"]), tuple(checked(WatchStatus(**one)) for one in record["watches"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return EngineStatus(StoreStatus("ok")), ()


def _now() -> int:
    return time.time_ns() // 1_000_000
