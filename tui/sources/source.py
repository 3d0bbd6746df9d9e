"""Source: where the screen's messages come from; a child engine, a recorder already running, or a script."""

from collections.abc import Callable, Iterable
from typing import Protocol

from probes.feed.messages import Command, Hello
from probes.race.updates import RaceCommand
from tui.sources.messages import Message

Deliver = Callable[[Message], None]
"""Takes one message; called on the screen's own loop, cheap, never raises."""


class Source(Protocol):
    """Where frames come from. It lives on the screen's loop; nothing it meets may end the screen."""

    async def run(self, deliver: Deliver) -> None:
        """Deliver messages until there are no more or `close` was called."""
        ...

    def send(self, command: Command | RaceCommand) -> bool:
        """Pass a wish on; False where nobody is there who takes one."""
        ...

    async def close(self) -> None:
        """End what this source started, and `run` with it. Safe to call twice."""
        ...


class HeldSource(Source, Protocol):
    """A source that ends by itself where it finds the store held by another recorder, and says by whom."""

    @property
    def held(self) -> Hello | None:
        """The greeting that named the holder; None while there is none."""
        ...


class LiveSource:
    """The source of a real dashboard: our own engine, or the recorder that already holds the store.

    ``engine`` makes the one, ``attach`` the other, neither before it is wanted. While another recorder holds the store
    we read along; when it ends, our own engine takes over.
    """

    def __init__(self, engine: Callable[[], HeldSource], attach: Callable[[Hello], Source]) -> None:
        self._engine = engine
        self._attach = attach
        self._current: Source | None = None
        self._closed = False

    async def run(self, deliver: Deliver) -> None:
        """Deliver from whoever records, one after the other."""
        while not self._closed:
            self._current = engine = self._engine()
            await engine.run(deliver)
            if self._closed or engine.held is None:
                return
            self._current = self._attach(engine.held)
            await self._current.run(deliver)

    def send(self, command: Command | RaceCommand) -> bool:
        """Only our own engine takes commands."""
        return self._current is not None and self._current.send(command)

    async def close(self) -> None:
        """End whichever runs."""
        self._closed = True
        if self._current is not None:
            await self._current.close()


class ScriptedSource:
    """A fixed list of messages, delivered at once; commands are kept in ``sent``. For tests and pictures."""

    def __init__(self, messages: Iterable[Message], *, takes_commands: bool = True) -> None:
        self._messages = tuple(messages)
        self._takes_commands = takes_commands
        self.sent: list[Command | RaceCommand] = []
        self.closed = False

    async def run(self, deliver: Deliver) -> None:
        """Deliver every message."""
        for message in self._messages:
            deliver(message)

    def send(self, command: Command | RaceCommand) -> bool:
        """Keep the command, or refuse it."""
        if self._takes_commands:
            self.sent.append(command)
        return self._takes_commands

    async def close(self) -> None:
        """Remember that it was asked for."""
        self.closed = True
