"""Transports: which transport a base URL asks for, whom it trusts, and whether its endpoint wants a second one."""

import ssl
from collections.abc import Iterable

from probes.endpoint import Endpoint
from probes.peer import is_encrypted
from probes.transport import Transport


def trust_for(base_urls: Iterable[str]) -> ssl.SSLContext | None:
    """Whom to trust at these addresses; None where nothing is encrypted: it takes tens of milliseconds."""
    if not any(is_encrypted(one) for one in base_urls):
        return None
    from probes.connection import tls_context

    return tls_context()


def transport_to(base_url: str, tls: ssl.SSLContext | None) -> Transport:
    """A transport, not yet open: a WebSocket for ``ws`` and ``wss``, else HTTP. Each is imported where it is wanted."""
    if base_url.startswith(("ws://", "wss://")):
        from probes.websocket import WebSocket

        return WebSocket(base_url, tls)
    from probes.connection import Connection

    return Connection(base_url, tls)


def second_to(endpoint: Endpoint, tls: ssl.SSLContext | None) -> Transport | None:
    """The cold probes' own transport where an endpoint's are warm and cold in turn, so that the warm one stays open."""
    return transport_to(endpoint.base_url, tls) if endpoint.connection == "both" else None
