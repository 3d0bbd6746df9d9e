"""Peer: the other end of a connection, as an address names it, and whom to trust about who it is."""

import ssl
from typing import Final, NamedTuple
from urllib.parse import urlsplit

_PLAIN: Final = frozenset({"http", "ws"})


class Peer(NamedTuple):
    """A host, its port, and the trust its certificate is held to; without one nothing is encrypted."""

    host: str
    port: int
    tls: ssl.SSLContext | None


def is_encrypted(url: str) -> bool:
    """Whether what goes to an address must be encrypted; only what says that it is plain is not."""
    return urlsplit(url).scheme not in _PLAIN


def peer_of(url: str, tls: ssl.SSLContext | None) -> Peer:
    """The other end of an http, https, ws or wss address.

    Raises ValueError for an encrypted one without trust: a key would go there for all to read.
    """
    parts, encrypted = urlsplit(url), is_encrypted(url)
    if encrypted and tls is None:
        raise ValueError(f"{parts.scheme}://{parts.hostname} is encrypted, and no certificate is trusted")
    return Peer(parts.hostname or "", parts.port or (443 if encrypted else 80), tls if encrypted else None)
