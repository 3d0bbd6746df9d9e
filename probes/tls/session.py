"""One TLS session without a socket: bytes in, bytes out, so that the stream can time the reads that carry them."""

import contextlib
import ssl
from collections.abc import Sequence
from typing import Final

from probes.tls.errors import Certificate, FailedHandshake

_READ: Final = 1 << 16
_HEADER: Final = 5
"""Bytes before the fragment of a record, of which the last two are its length (RFC 8446 §5.1)."""

_FIRST_BYTES: Final = 64
"""How many of the first bytes are kept, to tell what it was that answered where the handshake fails."""


class TlsSession:
    """The client's side of one session. Raises ssl.SSLError for what is not TLS, or not trusted.

    During the handshake, what must be sent to the other side is fetched with `outgoing` after every step. Later, what
    a session has to send for itself (a new key) goes out with the next data, as RFC 8446 §4.6.3 wants it. ``ended``:
    the other side has closed the session.
    """

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.ended = False
        self._host = host
        self._first_bytes = b""
        self._header = b""
        self._record_left = 0

    def do_handshake(self, data: bytes = b"") -> bool:
        """Continue the handshake with what the other side sent; whether it is complete."""
        self._feed(data)
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    @property
    def failed_handshake(self) -> FailedHandshake:
        """What is known of a handshake that failed."""
        return FailedHandshake(self._host, self._first_bytes, self._chain())

    def _chain(self) -> Sequence[Certificate]:
        """The certificates that the other side has sent, trusted or not; none where Python does not give them out.

        `ssl` itself does so only after a good handshake, but OpenSSL 3 keeps them before it verifies them.
        """
        with contextlib.suppress(Exception):  # not a public interface: whatever it does, the message does without
            return [one.get_info() for one in self._session._sslobj.get_unverified_chain() or ()]  # type: ignore[attr-defined]
        return ()

    @property
    def is_between_records(self) -> bool:
        """Whether the last bytes were the end of a record; OpenSSL takes in half of one without saying so."""
        return not self._record_left and not self._header

    def decrypt(self, data: bytes) -> bytes:
        """The plain text of the records that ``data`` completes, which may be none."""
        self._feed(data)
        pieces = []
        try:
            while piece := self._session.read(_READ):
                pieces.append(piece)
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.ended = True
        return b"".join(pieces)

    def encrypt(self, data: bytes) -> bytes:
        """The records that carry ``data``."""
        self._session.write(data)
        return self.outgoing()

    def outgoing(self) -> bytes:
        """The bytes that must be sent now, which may be none."""
        return self._outgoing.read()

    def _feed(self, data: bytes) -> None:
        """Take in received bytes, and follow where their records end."""
        self._first_bytes += data[: _FIRST_BYTES - len(self._first_bytes)]
        self._incoming.write(data)
        place = 0
        while place < len(data):
            if self._record_left:
                step = min(self._record_left, len(data) - place)
                self._record_left -= step
            else:
                step = _HEADER - len(self._header)
                self._header += data[place : place + step]
                if len(self._header) == _HEADER:
                    self._record_left, self._header = int.from_bytes(self._header[3:], "big"), b""
            place += step
