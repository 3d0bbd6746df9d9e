"""Tls: one TLS session without a socket: bytes in, bytes out, so that its stream can stamp what carries them."""

import ssl
from typing import Final

_READ: Final = 1 << 16


class Tls:
    """The client's side of one session. Raises ssl.SSLError for what is not TLS, or not to be trusted.

    What must be sent to the other side is to be fetched with `outgoing` while shaking hands; later, what a session
    has to say for itself (a new key) goes out with the next data, as RFC 8446 §4.6.3 wants it.
    """

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.ended = False

    def shake(self, data: bytes = b"") -> bool:
        """Go on with the handshake, with what the other side sent; whether it is done."""
        self._incoming.write(data)
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    @property
    def is_between_records(self) -> bool:
        """Whether all that came has been decrypted: what came last was the end of a record."""
        return not self._incoming.pending

    def decrypt(self, data: bytes) -> bytes:
        """The plain text that ``data`` completes, maybe none; ``ended`` when the other side has said goodbye."""
        self._incoming.write(data)
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
