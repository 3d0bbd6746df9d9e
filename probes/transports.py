"""Transports: which transport a base URL asks for, and whether its endpoint wants a second one."""

import ssl

from probes.endpoint import Endpoint
from probes.transport import Transport


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
