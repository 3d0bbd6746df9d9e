"""Fault: what can go wrong with an answer, as small values that spoil its script.

Where a fault has ``after``, it strikes when that many output events have been written, and before the end of the
body at the latest. What can only go wrong on a WebSocket is in `socket_fault`; there a `ReplacedResponse`
is an ``error`` message.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal, Protocol

from probes.simulator.faults.error_shapes import ErrorShape, error_inside
from probes.simulator.script import (
    SSE,
    Act,
    BodyEnd,
    Close,
    EndOfResponse,
    Event,
    Head,
    Raw,
    Reset,
    Silence,
    SplitWrites,
)


class Fault(Protocol):
    """Something that spoils an answer."""

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The acts as the fault leaves them; lazily, for some never end."""
        ...


@dataclass(frozen=True, slots=True)
class ReplacedResponse:
    """Another response in place of the answer: an error, a redirect, a page. Dicts and lists go as JSON."""

    status: int
    body: dict[str, Any] | list[Any] | str | bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:  # noqa: ARG002  the answer is not given
        """The reply, whole."""
        body = self.body
        if isinstance(body, (dict, list)):
            kind, data = "application/json", json.dumps(body).encode()
        elif isinstance(body, str):
            page = body.lstrip().startswith("<")
            kind, data = "text/html; charset=utf-8" if page else "text/plain; charset=utf-8", body.encode()
        else:
            kind, data = "application/octet-stream", body
        yield Head(0.0, self.status, {"content-type": kind, **self.headers}, data)
        yield EndOfResponse(0.0)


def redirect(location: str, status: int = 307) -> ReplacedResponse:
    """A redirect, which must not be followed to another origin."""
    return ReplacedResponse(status, headers={"location": location})


def empty_stream() -> ReplacedResponse:
    """A 200 event stream without a byte in it."""
    return ReplacedResponse(200, headers=SSE)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The connection is closed, or reset, before any byte of the response."""

    how: Literal["close", "reset"] = "close"

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:  # noqa: ARG002  the answer is not given
        """The end."""
        yield Close(0.0) if self.how == "close" else Reset(0.0)


@dataclass(frozen=True, slots=True)
class Unheard:
    """Not a byte, and the connection stays open until the client goes."""

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:  # noqa: ARG002  the answer is not given
        """Silence."""
        yield Silence(0.0)


@dataclass(frozen=True, slots=True)
class Garbage:
    """Bytes that are no HTTP in place of the response; then the connection is closed."""

    data: bytes = b"\x16\x03\x01\x02\x00 this is no status line\r\n\r\n"

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:  # noqa: ARG002  the answer is not given
        """The garbage."""
        yield Raw(0.0, self.data)
        yield Close(0.0)


@dataclass(frozen=True, slots=True)
class Delayed:
    """Headers and everything after them come ``ms`` later."""

    ms: float

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The same acts, later."""
        for act in acts:
            yield replace(act, due_ms=act.due_ms + self.ms)


@dataclass(frozen=True, slots=True)
class CutOff:
    """The answer breaks off: the connection is closed or reset, or the body ends in good order but for its marker.

    A WebSocket is closed without a word (1006), with a ``code`` after a close frame that says it and the ``reason``.
    """

    after: int
    how: Literal["close", "reset", "end"] = "close"
    code: int | None = None
    reason: str = ""

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The first acts and the end."""
        yield from _before(acts, self.after)
        match self.how:
            case "close":
                yield Close(0.0, self.code, self.reason)
            case "reset":
                yield Reset(0.0)
            case "end":
                yield EndOfResponse(0.0)


@dataclass(frozen=True, slots=True)
class Hangup:
    """A whole answer that promises to keep the connection, then closed; ``code``, ``reason`` as for `CutOff`."""

    code: int | None = None
    reason: str = ""

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The answer and the end."""
        for act in acts:
            yield BodyEnd(act.due_ms) if isinstance(act, EndOfResponse) else act
        yield Close(0.0, self.code, self.reason)


@dataclass(frozen=True, slots=True)
class Stall:
    """No more output, on an open connection; with ``comments_every_ms`` keep-alives, ``comment`` each, go on."""

    after: int
    comments_every_ms: float | None = None
    comment: bytes = b": keep-alive\n\n"

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The first acts and the waiting."""
        stalled_ms = 0.0
        for act in _before(acts, self.after):
            stalled_ms = act.due_ms
            yield act
        if self.comments_every_ms is None:
            yield Silence(0.0)
            return
        for place in count(1):
            yield Event(stalled_ms + place * self.comments_every_ms, self.comment)


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error inside a 200, in the shape of one provider.

    ``code`` is the word or number of its kind: Anthropic's error type, Gemini's status.
    """

    after: int
    shape: ErrorShape = "object"
    message: str = "The server had an error while processing your request."
    code: str | int = "server_error"

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The first acts, the error and the end of the body."""
        place = 0
        for act in _before(acts, self.after):
            place += isinstance(act, Event)
            yield act
        for data in error_inside(self.shape, self.message, self.code, place):
            yield Event(0.0, data)
        yield EndOfResponse(0.0)


@dataclass(frozen=True, slots=True)
class Nameless:
    """Events without their ``event:`` lines, as some proxies and look-alikes send them; the data says it again."""

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The same acts, nameless."""
        for act in acts:
            if isinstance(act, Event) and act.data.startswith(b"event:"):
                act = replace(act, data=act.data.partition(b"\n")[2])
            yield act


@dataclass(frozen=True, slots=True)
class Intrusion:
    """Foreign bytes in the midst of the body, an event by themselves or ``raw``; the answer goes on after them."""

    after: int
    data: bytes
    raw: bool = False

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The acts with the foreign bytes among them."""
        rest = iter(acts)
        held: list[Act] = []
        yield from _before(rest, self.after, held)
        yield Raw(0.0, self.data) if self.raw else Event(0.0, self.data)
        yield from held
        yield from rest


def not_json(after: int) -> Intrusion:
    """A data line that is no JSON."""
    return Intrusion(after, b'data: {"choices": [{"delta": {"content": oops\n\n')


def huge_event(after: int, size: int = 2 << 20) -> Intrusion:
    """One event of more than ``size`` bytes."""
    return Intrusion(after, b'data: {"choices":[{"index":0,"delta":{"content":"' + b"x" * size + b'"}}]}\n\n')


def json_bomb(after: int, depth: int = 100_000) -> Intrusion:
    """A data line nested ``depth`` deep, to exhaust a recursive parser."""
    return Intrusion(after, b"data: " + b"[" * depth + b"]" * depth + b"\n\n")


@dataclass(frozen=True, slots=True)
class Flood:
    """``data`` for ever, as fast as the client reads: with line ends a stream of events, without one endless line."""

    data: bytes = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"flood " * 2_000 + b'"}}]}\n\n'

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The head and the flood, which is not recorded."""
        yield from _before(acts, 0)
        while True:
            yield Event(0.0, self.data, recorded=False)


def endless_line() -> Flood:
    """A line that never ends."""
    return Flood(b"data: " + b"x" * 16_384)


@dataclass(frozen=True, slots=True)
class Gzip:
    """The body compressed, though nobody asked; every event is flushed."""

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The acts with gzip data."""
        packer = zlib.compressobj(wbits=31)
        for act in acts:
            if isinstance(act, Head) and act.body is None:
                yield replace(act, headers={**act.headers, "content-encoding": "gzip"})
            elif isinstance(act, Event):
                yield replace(act, data=packer.compress(act.data) + packer.flush(zlib.Z_SYNC_FLUSH))
            elif isinstance(act, EndOfResponse):
                yield Event(act.due_ms, packer.flush())
                yield act
            else:
                yield act


@dataclass(frozen=True, slots=True)
class Pieces:
    """Every write cut into pieces of these sizes, in turn: through headers, chunk framing, JSON and UTF-8."""

    sizes: tuple[int, ...] = (1,)

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The same acts, torn."""
        yield SplitWrites(0.0, self.sizes)
        yield from acts


@dataclass(frozen=True, slots=True)
class Both:
    """Two faults at once, ``first`` nearer to the answer."""

    first: Fault
    then: Fault

    def spoil(self, acts: Iterable[Act]) -> Iterator[Act]:
        """The acts spoiled twice."""
        return self.then.spoil(self.first.spoil(acts))


def _before(acts: Iterable[Act], outputs: int, held: list[Act] | None = None) -> Iterator[Act]:
    """The acts until ``outputs`` output events have gone by; the act it stopped at is put in ``held``."""
    for act in acts:
        is_output = isinstance(act, Event) and act.kind is not None
        if isinstance(act, EndOfResponse) or (is_output and outputs == 0):
            if held is not None:
                held.append(act)
            return
        outputs -= is_output
        yield act
