"""Onlooker: the source of a screen that only looks at a store, whoever records into it, and when nobody does."""

import asyncio
import os
from collections.abc import Iterable

from msgspec.structs import replace

from probes import __version__
from probes.feed.messages import Command, EndpointFacts, EngineStatus, Frame, Hello, MonitorStatus
from probes.race.updates import RaceCommand
from probes.store.problem import StoreProblem
from probes.store.status import StoreStatus
from tui.sources.attached import StoreFollower, StoreView, pause
from tui.sources.messages import Message, RecorderAbsent, RecorderJoined
from tui.sources.source import Deliver
from tui.sources.stored_endpoints import stored_endpoints


class ReadOnlySource:
    """It takes no lock, starts no engine and takes no command, so any number of them may look at one store.

    ``configured`` says how endpoints are drawn that the configuration names. While a recorder writes, what it stores is
    delivered twice a second; where it stops, that is said, and the next one is followed.
    """

    def __init__(self, store_url: str, configured: Iterable[EndpointFacts] = ()) -> None:
        self._url = store_url
        self._configured = tuple(configured)
        self._store = StoreFollower(store_url)
        self._known: tuple[str, ...] | None = None
        self._told: Message | None = None
        self._closing = asyncio.Event()

    async def run(self, deliver: Deliver) -> None:
        """Deliver what the store holds of its endpoints, who records, and what is new, until closed."""
        try:
            while not self._closing.is_set():
                look, hello = await asyncio.to_thread(self._look)
                if hello is not None:
                    self._known = tuple(one.name for one in hello.endpoints)
                    deliver(hello)
                if (told := _who(look)) is not None and told != self._told:
                    self._told = told
                    deliver(told)
                deliver(look.frame if look.recorder is None or look.recorded else self._at_rest(look))
                await pause(self._closing)
        finally:
            self._store.reader.close()

    def send(self, command: Command | RaceCommand) -> bool:  # noqa: ARG002 - the protocol's signature
        """Nobody here takes commands."""
        return False

    async def close(self) -> None:
        """End `run` at its next look."""
        self._closing.set()

    def _look(self) -> tuple[StoreView, Hello | None]:
        """What is new, and what endpoints there are, where that is not known yet or no longer true."""
        look = self._store.look()
        if self._known is not None and all(one.endpoint in self._known for one in look.frame.samples):
            return look, None
        try:
            endpoints = stored_endpoints(self._store.reader, self._configured)
        except StoreProblem:
            return look, None  # the frame says what is wrong
        return look, Hello(__version__, os.getpid(), self._url, simulated=False, endpoints=endpoints)

    def _at_rest(self, look: StoreView) -> Frame:
        """What a recorder said of itself is over with it."""
        watches = tuple(MonitorStatus(name) for name in self._known or ())
        store = StoreStatus("ok", stored=look.frame.engine.store.stored)
        return replace(look.frame, engine=EngineStatus(store), watches=watches)


def _who(look: StoreView) -> Message | None:
    """Who records; None where the store did not say."""
    recorder = look.recorder
    if recorder is None:
        return RecorderAbsent(None) if look.frame.engine.store.state == "ok" else None
    if not look.recorded:
        return RecorderAbsent(recorder.beat_at)
    return RecorderJoined(f"process {recorder.pid} on {recorder.host}")
