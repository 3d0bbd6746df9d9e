"""WebSocket: one kept socket per endpoint, one request at a time; framed by the sans-I/O half of websockets.

A server may speak while nothing is asked: pings are answered, anything else that comes between two requests is let
go, and a close is known at once. The socket is renewed before the server's limit on its age.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from probes.marks import Setup, Stamp
from probes.network import open_stream
from probes.outcome import Outcome
from probes.peer import peer_of
from probes.stream import Stream
from probes.text import line
from probes.transport import ExchangeError, Gate, Refused, Reply, SetupError
from probes.wire.dialect import EVENT_LIMIT, WireRequest

RENEW_AFTER_NS: Final = 55 * 60 * 1_000_000_000
"""OpenAI closes a socket after 60 minutes (`websocket_connection_limit_reached`); others renew at 55."""

_SILENT: Final = logging.getLogger(f"{__name__}.wire")
_SILENT.setLevel(logging.CRITICAL + 1)  # the library logs headers, and one of them is the key


Arrived = asyncio.Queue[tuple[Stamp, bytes] | ExchangeError]

UNREAD_MESSAGES: Final = 64
"""Messages taken in and not yet read, past which the socket is left alone."""


class Messages:
    """The messages that answer one request; a request may follow after any of them."""

    complete = True

    def __init__(self, arrived: Arrived) -> None:
        self._arrived = arrived

    async def read(self) -> tuple[Stamp, bytes]:
        """When the read that completed a message came, and the message, a line feed after it. Raises ExchangeError."""
        one = await self._arrived.get()
        if isinstance(one, ExchangeError):
            raise one
        return one

    async def each(self, take: Callable[[Stamp, bytes], bool]) -> None:
        """Hand over every message while ``take`` wants more. Raises ExchangeError, and what ``take`` raises."""
        while take(*await self.read()):
            pass


class WebSocket:
    """One WebSocket to one URL; a `probes.transport.Transport`. Opening it takes the headers of the request.

    Raises ValueError for an encrypted address without ``tls``.
    """

    def __init__(self, base_url: str, tls: ssl.SSLContext | None) -> None:
        self._peer = peer_of(base_url, tls)
        self._stream: Stream | None = None
        self._protocol: ClientProtocol | None = None
        self._pump: asyncio.Task[None] | None = None
        self._arrived = Arrived(UNREAD_MESSAGES)
        self._headers: Mapping[str, str] = {}
        self._opened_ns = 0
        self._sent: Stamp | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is open and young enough for another request."""
        if self._pump is None or self._pump.done() or self._protocol is None:
            return False
        return self._protocol.state is State.OPEN and time.monotonic_ns() - self._opened_ns < RENEW_AFTER_NS

    @property
    def sent(self) -> Stamp | None:
        """When the socket took the last byte of the newest frame."""
        return self._sent

    async def open(self, wire: WireRequest) -> Setup | None:
        """Open and upgrade it unless it is open; what that took. Raises SetupError and Refused."""
        for _ in range(2):  # two turns of the loop: a close that has already arrived is then known
            await asyncio.sleep(0)
        if self.is_open:
            return None
        self.drop()
        self._stream, setup = await open_stream(*self._peer)
        self._protocol = ClientProtocol(parse_uri(wire.url), max_size=EVENT_LIMIT, logger=_SILENT)
        try:
            await self._upgrade(self._stream, self._protocol, wire)
        except ExchangeError as error:
            ours = error.outcome is Outcome.OWN_FAULT
            raise SetupError(error.outcome if ours else Outcome.CONNECT, f"upgrade: {error.detail}") from error
        self._opened_ns = time.monotonic_ns()
        self._arrived = Arrived(UNREAD_MESSAGES)
        self._pump = asyncio.create_task(_receive(self._stream, self._protocol, self._arrived))
        return replace(setup, upgraded=self._opened_ns)

    async def send(self, wire: WireRequest, gate: Gate | None = None) -> Reply:
        """Send the request as one text frame. The headers are those of the upgrade, once. Raises ExchangeError."""
        if gate is not None:
            await gate()
        if self._stream is None or self._protocol is None:
            raise ExchangeError(Outcome.CUT, "no socket is open")
        while not self._arrived.empty():  # said while nothing was asked; an end is kept, for it is still true
            if isinstance(one := self._arrived.get_nowait(), ExchangeError):
                raise one
        self._sent = None
        self._protocol.send_text(wire.body)
        await _flush(self._stream, self._protocol)
        self._sent = self._stream.sent
        headers, self._headers = self._headers, {}
        return Reply(101, headers, Messages(self._arrived), None)

    def drop(self) -> None:
        """Close the socket at once, if one is open."""
        if self._pump is not None:
            self._pump.cancel()
        if self._stream is not None:
            self._stream.abort()
        self._stream = self._protocol = self._pump = None

    async def _upgrade(self, stream: Stream, protocol: ClientProtocol, wire: WireRequest) -> None:
        request = protocol.connect()
        for name, value in wire.headers.items():
            if any(character in "\r\n\0" for character in name + value):
                raise ValueError(f"the header {name!r} has a line end in it")  # its value may be a key
            if name.lower() not in request.headers:
                request.headers[name] = value
        protocol.send_request(request)
        await _flush(stream, protocol)
        while protocol.state is State.CONNECTING and protocol.handshake_exc is None:
            await _take(stream, protocol)
        answers = [one for one in protocol.events_received() if isinstance(one, Response)]
        headers = {name.lower(): value for one in answers for name, value in one.headers.raw_items()}
        if isinstance(protocol.handshake_exc, InvalidStatus):
            refused = protocol.handshake_exc.response
            raise Refused(refused.status_code, headers, bytes(refused.body or b""))
        if protocol.handshake_exc is not None:
            raise ExchangeError(Outcome.PROTOCOL, line(str(protocol.handshake_exc)))
        self._headers = headers


async def _receive(stream: Stream, protocol: ClientProtocol, arrived: Arrived) -> None:
    """Take in what comes for as long as the socket lives, asked for or not; then say why it ended."""
    message = bytearray()
    try:
        while protocol.state is State.OPEN:
            at = await _take(stream, protocol)
            frames = [one for one in protocol.events_received() if isinstance(one, Frame)]
            for frame in frames:
                if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                    message += frame.data
                    if frame.fin:
                        last = frame is frames[-1]
                        await arrived.put((at if last else at._replace(end_doubt=at.doubt), bytes(message) + b"\n"))
                        message.clear()
        await arrived.put(_end(protocol))
    except ExchangeError as error:
        await arrived.put(error)


async def _take(stream: Stream, protocol: ClientProtocol) -> Stamp:
    """One read of the socket into the protocol, and what the protocol answers to it; when the read came."""
    at, data = await stream.read()
    if data:
        protocol.receive_data(data)
    else:
        protocol.receive_eof()
    await _flush(stream, protocol)
    return at


async def _flush(stream: Stream, protocol: ClientProtocol) -> None:
    for data in protocol.data_to_send():
        if data:  # an empty piece asks for the end of the connection, which `drop` is for
            await stream.write(data)


def _end(protocol: ClientProtocol) -> ExchangeError:
    """Why a socket is open no more."""
    if protocol.close_rcvd is not None:
        words = f"{protocol.close_rcvd.code} {protocol.close_rcvd.reason}".strip()
        return ExchangeError(Outcome.CUT, f"the server closed the socket: {line(words)}")
    if protocol.parser_exc is None or isinstance(protocol.parser_exc, EOFError):
        return ExchangeError(Outcome.CUT, "the socket closed without a word (1006)")
    return ExchangeError(Outcome.PROTOCOL, line(f"no WebSocket: {protocol.parser_exc}"))
