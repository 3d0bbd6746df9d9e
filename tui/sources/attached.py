"""Attached: reading along with a recorder that is not ours, by asking its store what is new."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from probes.feed.messages import Command, EngineStatus, Frame, Hello, RecorderStatus
from probes.race.updates import RaceCommand
from probes.sample import Sample
from probes.store.problem import StoreProblem
from probes.store.read.reader import Recorder, StoreReader
from probes.store.status import StoreStatus
from tui.sources.messages import RecorderJoined, SourceLost
from tui.sources.source import Deliver

POLL_S: Final = 0.5
GONE_AFTER_MS: Final = 12_000
"""A recorder shows itself in the store every three seconds; so long without is its end."""

BATCH: Final = 2_000
FIRST_LOOK_MS: Final = 120_000
"""The first look reaches back a little: whoever read the store's past before it must not miss what came between."""


@dataclass(frozen=True, slots=True)
class StoreView:
    """One look into a store: what is new there, and who wrote to it last; None where nobody, or it cannot be read."""

    frame: Frame
    recorder: Recorder | None = None

    @property
    def recorded(self) -> bool:
        """Whether who wrote last has shown itself lately."""
        return self.recorder is not None and self.frame.at - self.recorder.beat_at <= GONE_AFTER_MS


class StoreFollower:
    """Asks a store what is new, and who records, anywhere or at one place.

    `look` is to be called in a thread, one call at a time.
    """

    def __init__(self, store_url: str, vantage: str | None = None) -> None:
        self.reader = StoreReader(store_url)
        self._vantage = vantage
        self._after: int | None = None
        self._stored = 0

    def look(self) -> StoreView:
        """What was stored since the last look. A store that cannot be read is a state."""
        now = _now()
        try:
            recorder = self.reader.recorder(self._vantage)
            said = status_of("" if recorder is None else recorder.status)
            samples = self._new_samples()
            answers = self.reader.answers() if samples else None
        except StoreProblem as problem:
            return StoreView(Frame(now, EngineStatus(StoreStatus(problem.state, problem.detail, self._stored)), ()))
        store = replace(said.engine.store, stored=max(said.engine.store.stored, self._stored))
        engine = structs.replace(said.engine, store=store)
        return StoreView(Frame(now, engine, said.watches, tuple(samples), answers), recorder)

    def _new_samples(self) -> list[Sample]:
        """What was stored since the last look; at the first look the last two minutes."""
        if self._after is None:
            self._after = self.reader.last_id()
            self._stored = self.reader.recorded()
            return list(self.reader.samples(_now() - FIRST_LOOK_MS))
        rows = self.reader.after(self._after, BATCH)
        if rows:
            self._after = rows[-1][0]
            self._stored += len(rows)
        return [sample for _, sample in rows]


class FollowingSource:
    """The source of a screen whose store another recorder holds. It reads, and commands nothing.

    `run` ends when the recorder has not shown itself for `GONE_AFTER_MS`.
    """

    def __init__(self, hello: Hello) -> None:
        self._hello = hello
        self._store = StoreFollower(hello.store_url, hello.vantage)
        self._closing = asyncio.Event()

    async def run(self, deliver: Deliver) -> None:
        """Deliver what the recorder stores, and how it says it is, twice a second."""
        deliver(RecorderJoined(self._hello.holder or "another recorder"))
        beat_at, heard_at = None, time.monotonic()
        try:
            while not self._closing.is_set():
                look = await asyncio.to_thread(self._store.look)
                if look.recorder is not None and look.recorder.beat_at != beat_at:
                    beat_at, heard_at = look.recorder.beat_at, time.monotonic()
                # by no clock that can be set, here or on another machine
                if look.recorder is not None and 1000 * (time.monotonic() - heard_at) > GONE_AFTER_MS:
                    deliver(SourceLost("the recorder has ended", retry_at=_now()))
                    return
                deliver(look.frame)
                await pause(self._closing)
        finally:
            self._store.reader.close()

    def send(self, command: Command | RaceCommand) -> bool:  # noqa: ARG002 - the protocol's signature
        """Nobody here takes commands."""
        return False

    async def close(self) -> None:
        """End `run` at its next look."""
        self._closing.set()


async def pause(closing: asyncio.Event) -> None:
    """Wait until the next look is due, or the source is closed."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(closing.wait(), POLL_S)


def status_of(text: str) -> RecorderStatus:
    """What the recorder says of itself; a status that cannot be read is an empty one."""
    try:
        return RecorderStatus.from_json(text)
    except ValueError:
        return RecorderStatus(EngineStatus(StoreStatus("ok")), ())


def _now() -> int:
    return time.time_ns() // 1_000_000
