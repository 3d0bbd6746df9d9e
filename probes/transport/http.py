"""Connection: one endpoint's HTTP connection, kept warm or opened cold; over httpx."""

import ssl

import httpx

from probes.outcome import Outcome
from probes.route import Proxy, Via
from probes.sockets.connection_timing import ConnectionTiming, Stamp
from probes.sockets.decode_queue import OnData
from probes.sockets.errors import ExchangeError
from probes.sockets.event_loop import let_others_read
from probes.sockets.idle import Idle
from probes.sockets.read_budget import ReadBudget
from probes.sockets.stream import Stream
from probes.tls.errors import HTTP2_ONLY, wants_http2
from probes.transport.base import Gate, Response
from probes.transport.connect import open_stream, peer_of
from probes.transport.http1 import ResponseParser, request_bytes
from probes.transport.opening import OpeningProgress
from probes.transport.proxy import authorization, authorized, refusal_of_forwarder
from probes.wire.dialect import WireRequest


class HttpBody(httpx.AsyncByteStream):
    """A response's body; `read_while` keeps what httpx would lose: when each piece reached the process.

    ``head`` is when the head had come, and with it ``first``.
    """

    def __init__(self, stream: Stream, parser: ResponseParser, first: bytes, at: Stamp) -> None:
        self.head = at
        self._stream = stream
        self._parser = parser
        self._first = first
        self._at = at

    @property
    def complete(self) -> bool:
        """Whether all of it has been read."""
        return self._parser.complete and not self._first

    async def read_while(self, take: OnData) -> None:
        """Hand over the bytes of every read while ``take`` wants more; until it does not, or at the end.

        Raises ExchangeError, ReadBudgetSpent, and what ``take`` raises.
        """
        if self._first:
            first, self._first = self._first, b""
            if not take(self._at, first):
                return
        if self._parser.broken is not None:
            raise self._parser.broken
        if self._parser.complete:
            return
        satisfied = False

        def parse(stamp: Stamp, data: bytes) -> bool:
            nonlocal satisfied
            body = self._parser.feed(data)
            satisfied = bool(body) and not take(stamp, body)
            return not satisfied and not self._parser.complete

        await self._stream.read_while(parse)
        if not satisfied and not self._parser.complete:
            self._parser.close()


class HttpConnection(httpx.AsyncBaseTransport):
    """One HTTP/1.1 connection to one origin, without a pool: a `probes.transport.base.Transport`.

    No redirect is followed. ``via`` is the proxy or the socket's file it goes through, if any. Raises ValueError for an
    encrypted address without ``tls``.
    """

    def __init__(self, base_url: str, tls: ssl.SSLContext | None, via: Via | None = None) -> None:
        self._peer = peer_of(base_url, tls)
        self._via = via
        self._opening = OpeningProgress()
        self._origin = httpx.URL(base_url).copy_with(raw_path=b"/", query=None, fragment=None)
        self._stream: Stream | None = None
        self._parser: ResponseParser | None = None
        self._client = httpx.AsyncClient(transport=self, timeout=None, trust_env=False, follow_redirects=False)  # noqa: S113  # the probe's own four deadlines

    @property
    def is_open(self) -> bool:
        """Whether a connection is open, unused or idle, and not closed by the server."""
        if self._stream is None or not self._stream.is_quiet:
            return False
        return self._parser is None or self._parser.keep_alive

    @property
    def idle(self) -> Idle | None:
        """How long nothing has gone over it since it first served a request; None before that."""
        return self._stream.activity.idle if self._stream is not None and self._parser is not None else None

    @property
    def closed_unanswered_ns(self) -> int | None:
        """How long (ns) after the newest request the server closed it without a byte of an answer; else None."""
        return self._stream.closed_unanswered_ns if self._stream is not None else None

    @property
    def sent(self) -> Stamp | None:
        """When the socket took the last byte of the newest request."""
        return self._stream.sent if self._stream else None

    def round_trip_ns(self, since: int) -> int | None:
        """The smallest round trip (ns) to the server since an instant, else the newest; None by a proxy or a file."""
        if self._stream is None or self._via is not None:  # that to a proxy is not the endpoint's
            return None
        return self._stream.round_trips.since(since)

    @property
    def opening(self) -> OpeningProgress:
        """How far the newest opening of a connection came."""
        return self._opening

    async def open(self, wire: WireRequest, budget: ReadBudget) -> ConnectionTiming | None:
        """Open it unless it is open; what that took, or None where a kept connection serves.

        Raises SetupError and ReadBudgetSpent.
        """
        if self._stream is not None and self.is_open:
            self._stream.budget = budget
            return None
        self.drop()
        self._via, self._opening = authorized(self._via, wire), OpeningProgress()
        self._stream, setup = await open_stream(*self._peer, budget, self._via, self._opening)
        return setup

    async def send(self, wire: WireRequest, gate: Gate | None = None) -> Response:
        """Send a request on the open connection once the ``gate`` lets it through; only the reply's head is read.

        Raises ExchangeError and ReadBudgetSpent, and ValueError for a request that must not be sent.
        """
        request = self._client.build_request(
            wire.method,
            wire.url,
            headers=dict(wire.headers),
            content=wire.body,
            extensions={"gate": gate or let_others_read},
        )
        await let_others_read()
        response = await self._client.send(request, stream=True)
        await let_others_read()
        headers = {name.lower(): value for name, value in response.headers.items()}
        body: HttpBody = response.extensions["body"]
        return Response(response.status_code, headers, body, body.head)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The transport's side of httpx: write the request, read the response's head."""
        if self._stream is None:
            raise ExchangeError(Outcome.CUT, "no connection is open")
        url = request.url
        if (url.scheme, url.host, url.port) != (self._origin.scheme, self._origin.host, self._origin.port):
            raise ValueError("the request is for another origin")
        parser = self._parser = ResponseParser(self._stream.budget)
        target, headers = url.raw_path, request.headers.raw
        forwarder = self._via if isinstance(self._via, Proxy) and self._via.forwards else None
        if forwarder is not None:
            target, headers = str(url).encode("ascii"), [*headers, *authorization(forwarder)]
        data = request_bytes(request.method, target, headers, await request.aread())
        await request.extensions["gate"]()
        if self._stream is None:
            raise ExchangeError(Outcome.CUT, "the connection was dropped")
        self._stream.activity.note_request()
        await self._stream.write(data)
        at, first = Stamp(0), b""

        def take(stamp: Stamp, data: bytes) -> bool:
            nonlocal at, first
            at, first = stamp, parser.feed(data)
            return parser.status is None

        # what httpx does with a head takes long enough to miss a token or two that come right behind it
        await self._stream.read_while(take, allow_batching=True)
        if parser.status is None:
            parser.close()
            raise AssertionError("a parser without a response does not close")
        if forwarder is not None and (no := refusal_of_forwarder(forwarder, parser)) is not None:
            raise no
        if wants_http2(parser.status, parser.headers):
            raise ExchangeError(Outcome.PROTOCOL, f"{HTTP2_ONLY} (HTTP {parser.status})")
        body = HttpBody(self._stream, parser, first, at)
        # httpx would send a cookie with every later request, and keep all there ever were
        headers = [(name, value) for name, value in parser.headers if name.lower() != b"set-cookie"]
        return httpx.Response(parser.status, headers=headers, stream=body, extensions={"body": body})

    def drop(self) -> None:
        """Close the connection at once, if one is open."""
        if self._stream is not None:
            self._stream.abort()
        self._stream = self._parser = None
