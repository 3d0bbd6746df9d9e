"""Dialect: the protocol of a wire format, and the events every dialect turns its stream into.

A dialect is pure: it builds a request from an endpoint, and turns response bytes into events. It never reads a
clock and never opens a connection; whoever feeds it bytes knows when they came.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from probes.conversation import Conversation
from probes.endpoint import Endpoint
from probes.events import (
    Event,
    Failure,
)
from probes.keys.secret import Secret


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request, ready to send. The headers hold the key, so a repr (and with it a traceback) leaves them out.

    ``proxy_key`` is the "user:password" of the proxy it goes through, where that wants one.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes
    method: str = "POST"
    proxy_key: Secret | None = None


class StreamReader(Protocol):
    """One response's decoder: bytes in, events out, in order. Never raises on bad input: it yields `Failure`."""

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that ``data``, the next bytes of the body, completes. Bytes may be cut anywhere."""
        ...

    def close(self) -> Iterable[Event]:
        """The events left over at the end of the body; `Failure` (cut) where the terminal marker is missing."""
        ...


class Dialect(Protocol):
    """A wire format."""

    name: str

    def request(self, endpoint: Endpoint, conversation: Conversation, key: Secret | None) -> WireRequest:
        """The streaming request for one conversation (nonce already in it)."""
        ...

    def reader(self) -> StreamReader:
        """A fresh decoder for one 200 response."""
        ...

    def response_events(self, headers: Mapping[str, str]) -> Iterable[Event]:
        """What a 200 response's headers say: `Served`, `ServerTimes`. Header names are lower case."""
        ...

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
        """What a response that is not a 200 means. ``body`` may be cut, empty, HTML or not text at all."""
        ...
