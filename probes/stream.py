"""Stream: bytes over one socket; every read carries when its data reached the machine, and how sure that is."""

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from probes.intake import intake
from probes.loop import backlog
from probes.marks import Stamp
from probes.outcome import Outcome
from probes.own_fault import lacking
from probes.text import line
from probes.tls import Tls
from probes.transport import ExchangeError

UNREAD_LIMIT: Final = 1 << 20
"""Bytes received but not yet read, past which the socket is left alone: a flood stays in the kernel."""

SEND_NS: Final = 50_000
"""What a system call that sends takes at most. One that took longer was interrupted, as a rule by whoever was woken
by what it had sent; a stamp after that would be late."""


@dataclass(slots=True)
class Taker:
    """Who is given every read; ``done`` when it is ``satisfied`` or nothing more can come."""

    take: Callable[[Stamp, bytes], bool]
    done: "asyncio.Future[None]"
    patient: bool
    satisfied: bool = False

    def give(self, stamp: Stamp, data: bytes) -> None:
        """Hand one read over. What goes wrong with it is for whoever waits for ``done``."""
        try:
            self.satisfied = not self.take(stamp, data)
        except Exception as error:
            self.satisfied = True
            self.done.set_exception(error)
        else:
            if self.satisfied:
                self.done.set_result(None)


class Stream:
    """A connected, non-blocking socket, read as soon as it has something; decoding happens later, off the clock.

    TLS, where it is wanted, begins with `secure` and runs over memory, so that its data is stamped like any other.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.eof = False
        self.sent: Stamp | None = None
        self.unread = 0
        self._sock = sock
        self._intake = intake(sock, self._arrived)
        self._tls: Tls | None = None
        self._loop = asyncio.get_running_loop()
        self._backlog = backlog(self._loop)
        self._held: deque[tuple[Stamp, bytes]] = deque()
        self._enlisted = False
        self._received: deque[tuple[Stamp, bytes]] = deque()
        self._error: Exception | None = None
        self._news = asyncio.Event()
        self._taker: Taker | None = None
        self._writable = asyncio.Event()
        self._open = True
        self._over = False
        self._listen()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has come that was not read: not data, not an end."""
        self._intake.look()
        while self._held:
            self._unfold()
        return not self.eof and not self._received

    async def read(self) -> tuple[Stamp, bytes]:
        """What one read of the socket brought, and when; empty at the end. Raises ExchangeError."""
        while not self._received:
            if self._held:
                self._unfold()
                continue
            if self._error is not None:
                raise broken(self._error) from self._error
            if self.eof:
                return Stamp(time.monotonic_ns()), b""
            self._news.clear()
            self._intake.hasten(1)
            try:
                await self._news.wait()
            finally:
                self._intake.hasten(-1)
        return self._next()

    async def each(self, take: Callable[[Stamp, bytes], bool], *, patient: bool = False) -> None:
        """Hand every read over soon after it was made, while ``take`` wants more; until it does not, or at the end.

        Reads that come thick, and all where the taker is ``patient``, are only stamped when they come, and handed over
        together some milliseconds later: see `Backlog`. Raises ExchangeError, and what ``take`` raises.
        """
        self._taker = taker = Taker(take, self._loop.create_future(), patient)
        try:
            while self._received and not taker.satisfied:
                taker.give(*self._next())
            if self._held:
                self._enlist(soon=True)
            elif self.eof and not taker.done.done():
                taker.done.set_result(None)
            await taker.done
        finally:
            self._taker = None
        if self._error is not None and not taker.satisfied:
            raise broken(self._error) from self._error

    def work(self) -> bool:
        """Hand one read that is held to whoever takes them; whether there is another, and who takes it."""
        if self._is_taken and self._held:
            self._unfold()
        self._enlisted = self._is_taken and bool(self._held)
        return self._enlisted

    @property
    def _is_taken(self) -> bool:
        return self._taker is not None and not self._taker.done.done()

    def _enlist(self, *, soon: bool) -> None:
        if not self._enlisted:
            self._enlisted = True
            self._backlog.add(self, soon=soon)

    def _next(self) -> tuple[Stamp, bytes]:
        stamp, data = self._received.popleft()
        self.unread -= len(data)
        self._listen()
        return stamp, data

    async def write(self, data: bytes) -> None:
        """Hand everything to the socket; ``sent`` is then when it took the last byte. Raises ExchangeError."""
        self.sent = None
        try:
            self.sent = await self._send(data if self._tls is None else self._tls.encrypt(data))
        except (OSError, ssl.SSLError) as error:
            raise broken(error) from error

    async def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Shake hands. Raises OSError and ssl.SSLError (an OSError), and ConnectionAbortedError at an early end."""
        tls = Tls(context, host)
        stamp, data = Stamp(time.monotonic_ns()), b""
        while not tls.shake(data):
            await self._send(tls.outgoing())
            stamp, data = await self.read()
            if not data:
                raise ConnectionAbortedError("the connection closed during the handshake")
        await self._send(tls.outgoing())
        self._tls = tls
        early, self._received = self._received, deque()  # what came right behind the server's last message
        self.unread = 0
        for at, cipher in [(stamp, b""), *early]:
            self._take(at, cipher)

    def abort(self) -> None:
        """Close at once; nothing here waits for a server that does not answer."""
        if self._open:
            self._open = False
            self._loop.remove_writer(self._sock)
            self._intake.close()
            self._held.clear()
            self._end(None)
            self._writable.set()

    def _listen(self) -> None:
        if self._open and not self._over and self.unread <= UNREAD_LIMIT:
            self._intake.listen()

    def _arrived(self, stamp: Stamp, data: bytes) -> None:
        """Keep one read until it is its turn."""
        self._over = not data
        self._held.append((stamp, data))
        self.unread += len(data)
        taker = self._taker
        if taker is None:
            self._unfold()
        elif not self._enlisted:
            thin = self._backlog.is_thin(stamp.at) and not taker.patient
            if thin and stamp.kernel:
                self.work()
            else:
                self._enlist(soon=thin or self._intake.gathers)
        if self.unread > UNREAD_LIMIT:
            self._intake.deafen()

    def _unfold(self) -> None:
        """Decrypt the oldest read that is held, and hand it over or keep it until it is asked for."""
        stamp, data = self._held.popleft()
        self.unread -= len(data)
        if data:
            self._take(stamp, data)
            self._listen()
        else:
            self._end(self._intake.fault)

    def _take(self, stamp: Stamp, data: bytes) -> None:
        """Hand over what came, decrypted where it was encrypted, or keep it until it is asked for."""
        if self._tls is not None:
            try:
                data = self._tls.decrypt(data)
            except ssl.SSLError as error:
                self._end(error)
                return
            if not self._tls.is_between_records:  # the read ended with the beginning of another record
                stamp = stamp._replace(end_doubt=stamp.doubt)
        if data:
            taker = self._taker
            if taker is not None and not taker.done.done():
                taker.give(stamp, data)
            else:
                self._received.append((stamp, data))
                self.unread += len(data)
                self._news.set()
        if self._tls is not None and self._tls.ended:
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        """Nothing more will come; who waits for it learns why."""
        if self._open:
            self._intake.deafen()
        self._over = self.eof = True
        self._error = self._error or error
        self._news.set()
        if self._taker is not None and not self._taker.done.done():
            self._taker.done.set_result(None)

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


def broken(error: Exception) -> ExchangeError:
    """What a connection that was open ended by; an own fault where this machine lacked something."""
    ours = lacking(error)
    return ExchangeError(Outcome.OWN_FAULT, ours) if ours else ExchangeError(Outcome.CUT, words(error))


def words(error: BaseException) -> str:
    """What went wrong, in one plain line."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return line(f"certificate: {error.verify_message}")
    if isinstance(error, ssl.SSLError):
        return line((error.reason or str(error)).replace("_", " ").lower())
    if isinstance(error, OSError) and error.errno in errno.errorcode:
        return os.strerror(error.errno or 0)
    if isinstance(error, OSError) and error.strerror:
        return line(error.strerror)
    return line(str(error)) or type(error).__name__
