"""SocketFault: what can go wrong on a WebSocket alone."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final

from websockets.frames import Opcode

from probes.simulator.faults.fault import Both, Hangup, Intrusion
from probes.simulator.script import Act, Event, Raw
from probes.simulator.websocket import LIFE_IS_OVER, frame

AFTER_ALL: Final = 1 << 30
"""More output than any answer has: what comes after so much comes after the terminal event."""


@dataclass(frozen=True, slots=True)
class Fragments:
    """Every message in frames of these sizes, and the last of them with the rest; through JSON and UTF-8."""

    sizes: tuple[int, ...] = (1, 5, 0, 2)

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The same messages, fragmented."""
        for act in acts:
            yield Raw(act.due_ms, self._frames(act.data), act) if isinstance(act, Event) else act

    def _frames(self, data: bytes) -> bytes:
        frames, place = [], 0
        for size, opcode in zip(self.sizes, chain((Opcode.TEXT,), repeat(Opcode.CONT)), strict=False):
            frames.append(frame(opcode, data[place : place + size], fin=False))
            place += size
        return b"".join([*frames, frame(Opcode.CONT, data[place:])])


def ping(after: int) -> Intrusion:
    """A ping of the server in the midst of an answer."""
    return Intrusion(after, frame(Opcode.PING, b"still there?"), raw=True)


def unasked() -> Intrusion:
    """An error message that answers nothing, after a whole answer; the socket stays open."""
    return Intrusion(AFTER_ALL, json.dumps(LIFE_IS_OVER).encode())


def expired() -> Both:
    """A whole answer, then what a socket is told that is an hour old, and its close."""
    return Both(unasked(), Hangup(1000, "connection limit"))
