"""Transport: what a probe needs of a connection, whatever is spoken over it, and the reply to one request."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from probes.outcome import Outcome
from probes.sockets.connection_timing import ConnectionTiming, Stamp
from probes.sockets.idle import Idle
from probes.sockets.read_budget import ReadBudget
from probes.transport.opening import OpeningProgress
from probes.wire.dialect import WireRequest

Gate = Callable[[], Awaitable[None]]
"""Where a request waits, ready to be written, until it may go."""


class SetupError(Exception):
    """A connection that could not be opened; ``outcome`` is dns, connect, tls, protocol or own_fault."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


class ResponseBody(Protocol):
    """What answers one request, piece by piece."""

    @property
    def complete(self) -> bool:
        """Whether the connection could take the next request now."""
        ...

    async def read_while(self, take: Callable[[Stamp, bytes], bool]) -> None:
        """Hand over what every read completed, as soon as it has come, while ``take`` wants more; else until the end.

        Raises ExchangeError, ReadBudgetSpent, and what ``take`` raises.
        """
        ...


@dataclass(frozen=True, slots=True)
class Response:
    """The beginning of a reply. ``head`` is when its head had come.

    ``head`` is None where a reply has no head of its own. Header names are in lower case; of a header that came
    twice the last one stands.
    """

    status: int
    headers: Mapping[str, str]
    body: ResponseBody
    head: Stamp | None


class UpgradeRefused(Exception):  # noqa: N818  # an answer, though not the one hoped for
    """The server answered the opening of a connection with an HTTP response that says no."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


class Transport(Protocol):
    """One kept connection to one origin: what is open, and since when, is always known. Nothing is retried here."""

    @property
    def is_open(self) -> bool:
        """Whether a connection is open, unused or idle, and not closed by the server."""
        ...

    @property
    def idle(self) -> Idle | None:
        """How long nothing has gone over a connection that has served a request; None where there is none."""
        ...

    @property
    def closed_unanswered_ns(self) -> int | None:
        """How long after the newest request was sent (ns, negative: before) the server simply closed the connection.

        None where it did not, or a byte of an answer had come.
        """
        ...

    @property
    def sent(self) -> Stamp | None:
        """When the socket took the last byte of the newest request."""
        ...

    def round_trip_ns(self, since: int) -> int | None:
        """The smallest round trip of the network since an instant (monotonic ns), else the last one known; in ns."""
        ...

    @property
    def opening(self) -> OpeningProgress:
        """How far the newest opening of a connection came."""
        ...

    async def open(self, wire: WireRequest, budget: ReadBudget) -> ConnectionTiming | None:
        """Open it unless it is open; what that took, or None where a kept connection serves.

        ``wire`` says with which headers, where opening takes any. All that is read from now on counts against
        ``budget``, until the next opening. Raises SetupError, Refused and ReadBudgetSpent.
        """
        ...

    async def send(self, wire: WireRequest, gate: Gate | None = None) -> Response:
        """Send a request on the open connection, once the ``gate`` lets it through.

        Raises ExchangeError and ReadBudgetSpent, and ValueError for what must not be sent.
        """
        ...

    def drop(self) -> None:
        """Close the connection at once, if one is open; a next `open` opens a new one."""
        ...
