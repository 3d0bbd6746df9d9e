"""Notifiers killed at random instants while they deliver, and what those who were told make of it."""

import asyncio
import os
import random
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from probes.alerts.settings import Channel
from probes.store.alerts.delivery import Outbox
from probes.store.alerts.outbox import QueuedMessage
from tests.notify.messages import ROUTING, SECRET, TOKEN, message
from tests.servers.raw_server import Client
from tests.servers.sinks import ACCEPTED, Sink, sink

AT_ONCE = 3
"""Incidents of a channel that are under way at a time."""

COMMAND = 'read -r told; printf "%s\\n" "$told" >>'
"""Notes what it is told as one line, by one write."""


def channels(heard: str) -> tuple[Channel, ...]:
    """A channel of each kind whose other side knows a key, and one of a kind that knows none."""
    return (
        Channel(name="webhook", kind="webhook", url="KILLED_WEBHOOK", secret="KILLED_SECRET"),
        Channel(name="pagerduty", kind="pagerduty", url="KILLED_PAGERDUTY", secret="KILLED_ROUTING"),
        Channel(name="alertmanager", kind="alertmanager", url="KILLED_ALERTMANAGER", secret="KILLED_TOKEN"),
        Channel(name="command", kind="command", command=("sh", "-c", f"{COMMAND} '{heard}'")),
    )


NAMES = tuple(one.name for one in channels(""))


@dataclass
class Tally:
    """What was sent over one channel: of each message how often, in which order, and what is wrong with that."""

    queued: int = 0
    heard: Counter[tuple[str, int]] = field(default_factory=Counter)
    lost: int = 0
    doubled: int = 0
    disordered: int = 0
    keys: int = 0


class Killing:
    """A store with messages that are put in as earlier ones are heard, their sinks, and notifiers that die."""

    def __init__(self, url: str, heard: Path, sinks: dict[str, Sink], nursery: Process, rng: random.Random) -> None:
        self._outbox = Outbox(url)
        self._store = ThreadPoolExecutor(1)
        self._heard = heard
        self._sinks = sinks
        self._nursery = nursery
        self._rng = rng
        self._opened = dict.fromkeys(NAMES, 0)
        self._resolved: dict[str, set[int]] = {name: set() for name in NAMES}
        self._pid: int | None = None
        self.kills = 0

    async def kill(self) -> None:
        """Have a notifier deliver, and kill it at a random instant, often just after somebody was told."""
        await self._feed()
        await self._begin()
        if self._rng.random() < 0.5:
            before, end = self._count(), time.monotonic() + 1.0
            while self._count() == before and time.monotonic() < end:
                await asyncio.sleep(0)
            await asyncio.sleep(self._rng.uniform(0, 0.01))
        else:
            await asyncio.sleep(self._rng.uniform(0, 0.12))
        await self._end()
        self.kills += 1

    async def finish(self) -> dict[str, Tally]:
        """Let a last notifier deliver all that is left; what became of every message."""
        await self._begin()
        async with asyncio.timeout(120):
            while await self._ask(self._outbox.waiting, _now()):
                await asyncio.sleep(0.02)
        await self._end()
        await self._ask(self._outbox.close)
        self._store.shutdown()
        return {name: self._tally(name) for name in NAMES}

    async def _begin(self) -> None:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(b"\n")
        self._pid = int(await self._nursery.stdout.readline())

    async def _end(self) -> None:
        assert self._nursery.stdout is not None
        assert self._pid is not None
        os.kill(self._pid, signal.SIGKILL)
        assert await self._nursery.stdout.readline() == b"dead\n"

    async def _feed(self) -> None:
        """Put in the ends of incidents that were heard of, and beginnings of others."""
        queued = []
        for name in NAMES:
            heard = {number for kind, number in self._told(name) if kind == "open"}
            for number in sorted(heard - self._resolved[name]):
                self._resolved[name].add(number)
                queued.append(_queued(name, "resolve", number))
            while self._opened[name] - len(self._resolved[name]) < AT_ONCE:
                queued.append(_queued(name, "open", self._opened[name]))
                self._opened[name] += 1
        await self._ask(self._outbox.put, queued)

    async def _ask(self, method: Callable[..., Any], *words: Any) -> Any:
        """What a method of the outbox returns, called in its one thread."""
        return await asyncio.get_running_loop().run_in_executor(self._store, method, *words)

    def _count(self) -> int:
        return sum(len(one.told) for one in self._sinks.values())

    def _told(self, name: str) -> list[tuple[str, int]]:
        """Kind and number of all that a channel was told, in order."""
        if name == "command":
            lines = self._heard.read_bytes().splitlines() if self._heard.exists() else []
            told = [msgspec.json.decode(one) for one in lines]
            return [(one["kind"], int(one["incident"]["key"].removeprefix("key-"))) for one in told]
        return [SAID[name](one.json) for one in self._sinks[name].told]

    def _tally(self, name: str) -> Tally:
        told = self._told(name)
        heard = Counter(told)
        queued = {("open", number) for number in range(self._opened[name])}
        queued |= {("resolve", number) for number in self._resolved[name]}
        last_open = {number: at for at, (kind, number) in enumerate(told) if kind == "open"}
        disordered = sum(
            kind == "resolve" and at < last_open.get(number, at + 1) for at, (kind, number) in enumerate(told)
        )
        keys = len({_key(name, one) for one in self._sinks[name].told}) if name in self._sinks else 0
        return Tally(len(queued), heard, len(queued - set(heard)), sum(heard.values()) - len(heard), disordered, keys)


@asynccontextmanager
async def killing(url: str, folder: Path, seed: int) -> AsyncIterator[Killing]:
    """All that is needed to kill notifiers that deliver from the store at ``url``."""
    rng = random.Random(seed)

    async def answer(client: Client) -> None:
        await asyncio.sleep(rng.uniform(0, 0.005))
        await client.say(ACCEPTED)
        await client.hold()

    heard = folder / "heard"
    async with sink(answer) as hook, sink(answer) as pager, sink(answer) as manager:
        sinks = {"webhook": hook, "pagerduty": pager, "alertmanager": manager}
        environment = {f"KILLED_{name.upper()}": one.origin for name, one in sinks.items()}
        environment |= {"KILLED_SECRET": SECRET, "KILLED_ROUTING": ROUTING, "KILLED_TOKEN": TOKEN}
        nursery = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.notify.deliver_until_killed", url, str(heard)),
            stdin=PIPE,
            stdout=PIPE,
            env={**os.environ, **environment},
        )
        try:
            yield Killing(url, heard, sinks, nursery, rng)
        finally:
            nursery.kill()
            await nursery.wait()


def _queued(name: str, kind: str, number: int) -> QueuedMessage:
    return QueuedMessage(channel=name, message=message(kind, number), next_at=0)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _number(text: str) -> int:
    return int(text.removeprefix("key-"))


def _of_alert(alerts: list[dict[str, Any]]) -> tuple[str, int]:
    ended = alerts[0]["endsAt"] < "2026-10"  # that of the test's messages is fixed; else it is after now
    return "resolve" if ended else "open", _number(alerts[0]["labels"]["key"])


SAID = {  # by the kind of a channel: what a request to it tells, of which incident
    "webhook": lambda said: (said["kind"], _number(said["incident"]["key"])),
    "pagerduty": lambda said: ({"trigger": "open"}.get(said["event_action"], "resolve"), _number(said["dedup_key"])),
    "alertmanager": _of_alert,
}


def _key(name: str, told: Any) -> Any:
    """By what the other side of a channel knows a message, or what it is about, again."""
    match name:
        case "webhook":
            return told.headers["idempotency-key"]
        case "pagerduty":
            return told.json["dedup_key"], told.json["event_action"]
    return tuple(sorted(told.json[0]["labels"].items())), _of_alert(told.json)[0]
