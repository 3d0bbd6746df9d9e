"""The record of one request as the simulator answered it, true instants included, to compare a probe's figures with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from probes.events import Kind


@dataclass(frozen=True, slots=True)
class WrittenEvent:
    """One event: the true instant ``at_ns``, taken right before the write that carried it, and when it was due."""

    at_ns: int
    due_ns: int
    kind: Kind | None
    text: str
    tokens: int


@dataclass(slots=True)
class RequestRecord:
    """One request and what was written for it, filled while it is answered; instants are ``time.monotonic_ns``.

    ``input_tokens``, ``output_tokens`` (hidden reasoning included) and ``reasoning_tokens`` are of the answer as
    planned, None where no answer was planned; a fault may have kept some from being written. ``end`` is how the
    response ended: ``complete``, ``closed`` or ``reset`` by the simulator, ``abandoned`` by the client; None while
    it runs.

    The record of a WebSocket's upgrade becomes that of the first message on it: the connection was new, status and
    ``headers_ns`` are of the upgrade, all else of the message. A later message has no head, unless it is an error.
    """

    model: str
    new_connection: bool
    read_ns: int
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    status: int | None = None
    headers_ns: int | None = None
    events: list[WrittenEvent] = field(default_factory=list)
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    end: Literal["complete", "closed", "reset", "abandoned"] | None = None

    @property
    def outputs(self) -> list[WrittenEvent]:
        """The events that carried output."""
        return [one for one in self.events if one.kind is not None]
