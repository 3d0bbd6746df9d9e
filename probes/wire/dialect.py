"""What every dialect (a wire format) offers, as protocols, and the request that it builds.

A dialect is pure: it builds a request from an endpoint, and turns the bytes of a response into `probes.events`. It
never reads a clock and never opens a connection; its caller knows when the bytes came.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from probes.conversation import Conversation
from probes.endpoint import Endpoint
from probes.events import Event, Failure
from probes.keys.secret import Secret


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request, ready to send. The headers contain the key, so its repr (and with it a traceback) leaves them out.

    ``proxy_key`` is the "user:password" of the proxy it goes through, where that needs one.
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
        """The last events, at the end of the body; `Failure` (outcome cut) where the terminal marker is missing."""
        ...


class Dialect(Protocol):
    """A wire format."""

    name: str

    def request(self, endpoint: Endpoint, conversation: Conversation, key: Secret | None) -> WireRequest:
        """The streaming request for one conversation (nonce already in it); ``key`` is put where the dialect has it."""
        ...

    def reader(self) -> StreamReader:
        """A fresh decoder for one 200 response."""
        ...

    def response_events(self, headers: Mapping[str, str]) -> Iterable[Event]:
        """The events in the headers of a 200 response, such as `ServedBy`. Header names are lower case."""
        ...

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
        """The failure of a response that is not a 200. ``body`` may be cut, empty, HTML or not text at all."""
        ...
