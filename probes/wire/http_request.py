"""What the requests of all dialects have in common, and the request id in their responses, to quote to support."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, urlencode

from probes import __version__
from probes.endpoint import Endpoint, merged
from probes.events import ServedBy
from probes.keys.secret import Secret
from probes.text import line
from probes.wire.dialect import WireRequest

REQUEST_IDS: Final = ("x-request-id", "request-id", "x-generation-id", "x-groq-id", "x-amzn-requestid")
"""Response headers that hold the request's id, best first."""

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


def json_request(
    endpoint: Endpoint,
    path: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str] = NO_HEADERS,
    accept: str = "text/event-stream",
) -> WireRequest:
    """A POST of ``body`` to the endpoint's `request_url`; its own headers and body fields win over ours.

    ``path`` is the dialect's own, with its query where it has one.
    Header names are in lower case. Raises TypeError where the endpoint's body holds what JSON cannot.
    """
    sent = {"content-type": "application/json", "accept": accept, "user-agent": f"inftop/{__version__}", **headers}
    sent |= {name.lower(): value for name, value in endpoint.headers.items()}
    sent["accept-encoding"] = "identity"  # a compressor holds tokens back until its block is full
    data = json.dumps(merged(body, endpoint.body), separators=(",", ":")).encode()
    return WireRequest(request_url(endpoint, path), sent, data)


def request_url(endpoint: Endpoint, path: str) -> str:
    """The URL of an endpoint's requests: its own path or else the dialect's, with the queries of both."""
    own, _, query = path.partition("?")
    queries = [query] if query else []
    if endpoint.query:
        queries.append(urlencode(endpoint.query, quote_via=quote))
    url = endpoint.base_url.rstrip("/") + (endpoint.path or own)
    return f"{url}?{'&'.join(queries)}" if queries else url


def bearer(key: Secret | None) -> dict[str, str]:
    """The authorization header with the key as a bearer token; none without a key."""
    return {} if key is None else {"authorization": f"Bearer {key.reveal()}"}


def request_id_events(headers: Mapping[str, str]) -> list[ServedBy]:
    """The request's id, where a response's headers (names in lower case) have one."""
    found = next((value for name in REQUEST_IDS if (value := headers.get(name))), None)
    return [ServedBy(request_id=line(found, 200))] if found else []
