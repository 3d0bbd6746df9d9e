"""Tls: one TLS session without a socket: bytes in, bytes out, so that its stream can stamp what carries them."""

import contextlib
import ssl
from collections.abc import Sequence
from typing import Final

from probes.tls.errors import Certificate, FailedHandshake

_READ: Final = 1 << 16
_HEADER: Final = 5
"""Bytes before the fragment of a record, of which the last two are its length (RFC 8446 §5.1)."""

_HEARD: Final = 64
"""So many of the first bytes are kept to tell, where the handshake fails, what it was that answered."""


class TlsSession:
    """The client's side of one session. Raises ssl.SSLError for what is not TLS, or not to be trusted.

    What must be sent to the other side is to be fetched with `outgoing` while shaking hands; later, what a session
    has to say for itself (a new key) goes out with the next data, as RFC 8446 §4.6.3 wants it.
    """

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.ended = False
        self._host = host
        self._heard = b""
        self._header = b""
        self._left = 0

    def do_handshake(self, data: bytes = b"") -> bool:
        """Go on with the handshake, with what the other side sent; whether it is done."""
        self._hear(data)
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    @property
    def seen(self) -> FailedHandshake:
        """What there is to tell of a handshake that failed."""
        return FailedHandshake(self._host, self._heard, self._chain())

    def _chain(self) -> Sequence[Certificate]:
        """The certificates that the other side has shown, trusted or not; none where Python does not tell.

        `ssl` itself tells only after a good handshake, but OpenSSL 3 keeps them before it looks at them.
        """
        with contextlib.suppress(Exception):  # not a public interface: whatever it does, the words do without
            return [one.get_info() for one in self._session._sslobj.get_unverified_chain() or ()]  # type: ignore[attr-defined]
        return ()

    @property
    def is_between_records(self) -> bool:
        """Whether what came last was the end of a record; OpenSSL takes in half of one without telling."""
        return not self._left and not self._header

    def decrypt(self, data: bytes) -> bytes:
        """The plain text that ``data`` completes, maybe none; ``ended`` when the other side has said goodbye."""
        self._hear(data)
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
        """What is to be sent."""
        return self._outgoing.read()

    def _hear(self, data: bytes) -> None:
        """Take in what came, and follow where its records end."""
        self._heard += data[: _HEARD - len(self._heard)]
        self._incoming.write(data)
        place = 0
        while place < len(data):
            if self._left:
                step = min(self._left, len(data) - place)
                self._left -= step
            else:
                step = _HEADER - len(self._header)
                self._header += data[place : place + step]
                if len(self._header) == _HEADER:
                    self._left, self._header = int.from_bytes(self._header[3:], "big"), b""
            place += step
