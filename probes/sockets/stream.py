"""Stream: bytes over one socket; every read carries when its data reached the machine, and how sure that is."""

import asyncio
import contextlib
import socket
import ssl
import time
from collections import deque
from typing import Final

from probes.sockets.connection_timing import SEND_NS, Stamp, Step, exchanged
from probes.sockets.decode_queue import Consumer, OnData
from probes.sockets.errors import exchange_error
from probes.sockets.event_loop import decode_queue, timestamped_selector
from probes.sockets.idle import ConnectionActivity
from probes.sockets.read_budget import ReadBudget, ReadBudgetSpent
from probes.sockets.readers import make_reader
from probes.sockets.round_trip import RoundTrips
from probes.tls.errors import handshake_error
from probes.tls.session import TlsSession

PIECE: Final = 1 << 10
"""Bytes of a read that are decoded in one go: a thousand newlines, some hundred empty frames, a few tokens. What comes
out of a TLS record, which can only be decrypted whole, is decoded in such pieces too."""

READ_COST: Final = 256
"""Bytes that keeping a read takes, whatever is in it: its stamp and its place."""

QUIET_PIECES: Final = 16
"""So many may hold nothing but what TLS has to say for itself (tickets, a new key)."""

UNREAD_LIMIT: Final = 2 << 20
"""Bytes received but not yet read, `READ_COST` included, past which the socket is left alone until half of them are
read: a flood stays in the kernel."""


class Stream:
    """A connected, non-blocking socket, read as soon as it has something; decoding happens later, off the clock.

    TLS, where it is wanted, begins with `start_tls` and runs over memory, so that its data is stamped like any other.
    What is read counts against ``budget``, which is to be set anew for every answer. ``eof``: nothing more will come.
    ``connect`` is how the socket was connected, where known.
    """

    def __init__(self, sock: socket.socket, budget: ReadBudget, connect: Step | None = None) -> None:
        self.budget = budget
        self.eof = False
        self.sent: Stamp | None = None
        self.unread = 0
        self.activity = ConnectionActivity()
        self._sock = sock
        self.round_trips = RoundTrips(sock, connect)
        self._intake = make_reader(sock, self._arrived)
        self._tls: TlsSession | None = None
        self._loop = asyncio.get_running_loop()
        self._backlog = decode_queue(self._loop)
        self._held: deque[tuple[Stamp, bytes]] = deque()  # as they came, in pieces
        self._received: deque[tuple[Stamp, bytes]] = deque()  # decrypted, in pieces
        self._enlisted = False
        self._deaf = False
        self._error: Exception | None = None
        self._news = asyncio.Event()
        self._taker: Consumer | None = None
        self._writable = asyncio.Event()
        self._open = True
        self._intake.resume_reading()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has come that was not read: not data, not an end."""
        self._look()
        return not (self.eof or self._held or self._received)

    @property
    def closed_unanswered_ns(self) -> int | None:
        """How long (ns) after the newest request it ended; None where it did not, or a byte of an answer had come.

        Half a TLS record is such a byte.
        """
        if self._held or self._received or not (self._tls is None or self._tls.is_between_records):
            return None
        return self.activity.closed_unanswered_ns(self.sent.at if self.sent else None)

    async def read(self) -> tuple[Stamp, bytes]:
        """What one read of the socket brought, or a piece of it, and when; empty at the end.

        Others on the loop have their turn first. Raises ExchangeError and ReadBudgetSpent.
        """
        if self._held or self._received:
            await asyncio.sleep(0)
        while not self._received:
            if self._held:
                self._unfold()
                await asyncio.sleep(0)
            elif self._error is not None:
                raise exchange_error(self._error) from self._error
            elif self.eof:
                return Stamp(time.monotonic_ns()), b""
            else:
                self._news.clear()
                self._intake.hasten(1)
                try:
                    await self._news.wait()
                finally:
                    self._intake.hasten(-1)
        return self._next(self._received)

    async def read_while(self, take: OnData, *, allow_batching: bool = False) -> None:
        """Hand every read over soon after it was made, while ``take`` wants more; until it does not, or at the end.

        Reads that come thick, and all with ``allow_batching``, are only stamped when they come, and handed over
        together some milliseconds later, a piece at a time and in turn with those of others: see `Backlog`. Raises
        ExchangeError, ReadBudgetSpent, and what ``take`` raises.
        """
        self._taker = taker = Consumer(take, self._loop.create_future(), allow_batching)
        try:
            if self._held or self._received:
                self._enlist(soon=True)
            self._settle()
            await taker.done
        finally:
            self._taker = None
        if self._error is not None and not taker.satisfied:
            raise exchange_error(self._error) from self._error

    def work(self) -> bool:
        """Decode one pending piece. True if more are pending and somebody takes them."""
        taker, self._enlisted = self._taker, False
        if taker is None or taker.done.done():
            return False
        if self._received:
            taker.give(*self._next(self._received))
        elif self._held:
            self._unfold()
        if self._held or self._received:
            self._enlisted = not taker.done.done()
        else:
            self._settle()
        return self._enlisted

    def _enlist(self, *, soon: bool) -> None:
        if not self._enlisted:
            self._enlisted = True
            self._backlog.add(self, soon=soon)

    async def write(self, data: bytes) -> None:
        """Hand everything to the socket; ``sent`` is then when it took the last byte. Raises ExchangeError."""
        self.sent = None
        self.activity.moved()
        try:
            data = data if self._tls is None else self._tls.encrypt(data)
            self.round_trips.sending()
            self.sent = await self._send(data)
        except (OSError, ssl.SSLError) as error:
            self.activity.end()
            raise exchange_error(await self._parting_words() or error) from error

    async def start_tls(self, context: ssl.SSLContext, host: str) -> Step:
        """Shake hands: what that took, from the first message sent to the arrival of the server's last.

        What this side computes after that is not in it; what it takes to answer in between is, and is its doubt.

        Raises HandshakeError, and OSError, ConnectionAbortedError at an early end, and ReadBudgetSpent.
        """
        tls = TlsSession(context, host)
        begun, late = None, 0
        stamp, data = Stamp(time.monotonic_ns()), b""
        try:
            while not tls.do_handshake(data):
                if flight := tls.outgoing():
                    sent = await self._send(flight)
                    begun, late = (begun, late + sent.at - stamp.at) if begun else (sent, 0)
                stamp, data = await self.read()
                if not data:
                    raise ConnectionAbortedError("the connection closed during the handshake")
        except ssl.SSLError as error:
            with contextlib.suppress(OSError):
                await self._send(tls.outgoing())  # the alert that tells the server why
            raise handshake_error(error, tls.seen, time.time()) from error
        await self._send(tls.outgoing())
        self._tls = tls
        last = stamp if tls.is_between_records else stamp._replace(end_uncertainty_ns=stamp.uncertainty_ns)
        self._take(stamp, b"")  # what came right behind the server's last message
        return exchanged(begun or last, last, late)

    async def _parting_words(self) -> Exception | None:
        """What the other side broke the session off with, where that came before a write failed: a TLS alert."""
        for _ in range(2):  # two turns of the loop: what has arrived is then read
            await asyncio.sleep(0)
        self._look()
        return self._error if isinstance(self._error, ssl.SSLError) else None

    def _look(self) -> None:
        """Take in what has been read already, as far as it is TLS's own."""
        self._intake.look()
        for _ in range(min(len(self._held), QUIET_PIECES)):
            self._unfold()

    def abort(self) -> None:
        """Close at once; nothing here waits for a server that does not answer."""
        if self._open:
            self._open = False
            self._loop.remove_writer(self._sock)
            self._intake.close()
            self._forget()
            self._received.clear()
            self._end(None)
            self._writable.set()

    def _arrived(self, stamp: Stamp, data: bytes) -> None:
        """Keep one read until it is its turn."""
        if not data:
            listening = timestamped_selector(self._loop)  # the kernel stamps no end
            self.activity.end(min(stamp.at, listening.not_polling_since_ns) if listening else stamp.at)
            self._end(self._intake.fault)
            return
        self.activity.moved()
        if self.round_trips.waiting:
            self.round_trips.arrived(stamp)
        self._keep(self._held, stamp, data)
        taker = self._taker
        if taker is None:
            self._news.set()
        elif not self._enlisted:
            thin = self._backlog.is_isolated(stamp.at) and not taker.allow_batching
            if not (thin and stamp.kernel):
                self._enlist(soon=thin or self._intake.batches)
            elif self.work():
                self._backlog.add(self, soon=True)
        if self.unread > UNREAD_LIMIT and not self._deaf:
            self._deaf = True
            self._intake.pause_reading()

    def _keep(self, queue: deque[tuple[Stamp, bytes]], stamp: Stamp, data: bytes) -> None:
        """Put a read at the end of a queue, in pieces; only the last of them ends as the read does."""
        if (size := len(data)) > PIECE:
            early = stamp._replace(end_uncertainty_ns=stamp.uncertainty_ns)
            while len(data) > PIECE:
                queue.append((early, data[:PIECE]))
                data = data[PIECE:]
        queue.append((stamp, data))
        self.unread += size + READ_COST * -(-size // PIECE)

    def _next(self, queue: deque[tuple[Stamp, bytes]]) -> tuple[Stamp, bytes]:
        """The oldest of the pieces in a queue; when enough of them are gone the socket is read again."""
        stamp, data = queue.popleft()
        self.unread -= len(data) + READ_COST
        if self._deaf and self.unread <= UNREAD_LIMIT // 2 and not self.eof:
            self._deaf = False
            self._intake.resume_reading()
        return stamp, data

    def _forget(self) -> None:
        """Let go of what is held: it is not wanted any more."""
        while self._held:
            self.unread -= len(self._held.pop()[1]) + READ_COST

    def _unfold(self) -> None:
        """Decrypt the oldest piece that is held, and hand it over or keep it until it is asked for."""
        stamp, data = self._next(self._held)
        try:
            self.budget.spend(1, len(data))
        except ReadBudgetSpent as error:
            self._forget()
            self._end(error)
        else:
            self._take(stamp, data)

    def _take(self, stamp: Stamp, data: bytes) -> None:
        """Hand over what came, decrypted where it was encrypted, or keep it until it is asked for."""
        if self._tls is not None:
            try:
                data = self._tls.decrypt(data)
            except ssl.SSLError as error:
                self.activity.heard = True
                self._forget()
                self._error = error  # it was said before whatever the connection has ended by since
                self._end(error)
                return
            if not self._tls.is_between_records:  # the read ended with the beginning of another record
                stamp = stamp._replace(end_uncertainty_ns=stamp.uncertainty_ns)
        self.activity.heard = self.activity.heard or bool(data)
        taker = self._taker
        if taker is not None and len(data) <= PIECE and not taker.done.done():
            if data:
                taker.give(stamp, data)
        elif data:
            self._keep(self._received, stamp, data)
            self._news.set()
        if self._tls is not None and self._tls.ended:
            self._forget()
            self.activity.end(stamp.at)
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        """Nothing more will come; who waits for it learns why, after all that has come."""
        if self._open:
            self._intake.pause_reading()
        self.eof = True
        self._error = self._error or error
        self._news.set()
        self._settle()

    def _settle(self) -> None:
        """Tell the taker, if there is one, that it has been given all there is."""
        taker = self._taker
        if self.eof and not (self._held or self._received) and taker is not None and not taker.done.done():
            taker.done.set_result(None)

    async def _send(self, data: bytes) -> Stamp:
        """Hand everything to the socket: when it took the last byte. Raises OSError."""
        rest = memoryview(data)
        while True:
            if not self._open:
                raise ConnectionAbortedError("the connection is closed")
            before = time.monotonic_ns()
            with contextlib.suppress(BlockingIOError, InterruptedError):
                rest = rest[self._sock.send(rest) :]
                if not rest:
                    took = time.monotonic_ns() - before
                    return Stamp(before + min(took, SEND_NS), took, took)
            await self._room()

    async def _room(self) -> None:
        """Until the socket takes more, or is gone."""
        self._writable.clear()
        self._loop.add_writer(self._sock, self._writable.set)
        try:
            await self._writable.wait()
        finally:
            if self._open:
                self._loop.remove_writer(self._sock)
