"""``check`` of how endpoints are connected to: proxies, socket files, authorities, certificates, the environment."""

import os
import time
from collections.abc import Iterable
from typing import Any

from probes.endpoint import Endpoint
from probes.route import (
    CA_VARIABLES,
    ENVIRONMENT,
    SYSTEM,
    UnixSocket,
    ignored_notes,
    ignored_proxy,
    is_encrypted,
    via_of,
)


def route_facts(endpoint: Endpoint) -> list[str]:
    """Proxy or socket, authorities and client certificate of an endpoint, where they are not the default."""
    route, via = endpoint.route, via_of(endpoint.route, endpoint.base_url)
    facts = []
    if isinstance(via, UnixSocket):
        facts.append(f"socket {via.path}")
    elif via is not None:
        facts.append(f"proxy {via}{' (from the environment)' if route.proxy == ENVIRONMENT else ''}")
    elif route.proxy == ENVIRONMENT:
        facts.append("proxy env: none for it")
    tls = (("ca", route.tls.ca), ("client_cert", route.tls.client_cert), ("client_key", route.tls.client_key))
    return [*facts, *(f"{name} {value}" for name, value in tls if value)]


def route_record(endpoint: Endpoint) -> dict[str, Any]:
    """The route as ``--json`` shows it; None is the default."""
    route, via = endpoint.route, via_of(endpoint.route, endpoint.base_url)
    return {
        "proxy": None if via is None or route.socket is not None else str(via),
        "proxy_key": route.proxy_key,
        "ignored_proxy": ignored_proxy(route, endpoint.base_url),
        "socket": route.socket,
        "ca": route.tls.ca,
        "client_cert": route.tls.client_cert,
        "client_key": route.tls.client_key,
    }


def route_notes(endpoints: Iterable[Endpoint]) -> list[str]:
    """Ignored proxies and expired certificates. Raises ConfigError where the environment names an unusable file."""
    enabled = [one for one in endpoints if one.enabled]
    named = any(os.environ.get(variable) for variable in CA_VARIABLES)
    if named and any(is_encrypted(one.base_url) and one.route.tls.ca is None for one in enabled):
        from probes.tls.context import check_environment  # only now: `ssl` is of no use to most checks

        check_environment()
    notes = ignored_notes((one.route, one.base_url) for one in enabled)
    files = dict.fromkeys(one for each in enabled for one in (each.route.tls.ca, each.route.tls.client_cert))
    for path in files:
        if path is not None and path != SYSTEM:
            from probes.tls.context import certificate_expiry

            if (end := certificate_expiry(path)) is not None and end < time.time():
                notes.append(f"{path}: expired {time.strftime('%Y-%m-%d', time.gmtime(end))}")
    return notes
