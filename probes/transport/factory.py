"""Transports: which transport an endpoint asks for, through what, whom it trusts, and whether it wants a second one."""

import ssl

from probes.endpoint import Endpoint
from probes.route import Via, via_of
from probes.tls.context import TlsContexts
from probes.transport.base import Transport
from probes.transport.connect import is_encrypted


def transport_to(base_url: str, tls: ssl.SSLContext | None, via: Via | None = None) -> Transport:
    """A transport, not yet open: a WebSocket for ``ws`` and ``wss``, else HTTP. Each is imported where it is wanted."""
    if base_url.startswith(("ws://", "wss://")):
        from probes.transport.websocket import WebSocketConnection

        return WebSocketConnection(base_url, tls, via)
    from probes.transport.http import HttpConnection

    return HttpConnection(base_url, tls, via)


def transport_of(endpoint: Endpoint, contexts: TlsContexts) -> Transport:
    """An endpoint's transport, not yet open, as its route has it. Raises what `TlsContexts.of` does."""
    tls = contexts.of(endpoint.route.tls) if is_encrypted(endpoint.base_url) else None
    return transport_to(endpoint.base_url, tls, via_of(endpoint.route, endpoint.base_url))


def cold_transport_of(endpoint: Endpoint, contexts: TlsContexts) -> Transport | None:
    """The cold probes' own transport where an endpoint's are warm and cold in turn, so that the warm one stays open."""
    return transport_of(endpoint, contexts) if endpoint.connection == "both" else None
