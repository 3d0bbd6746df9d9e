"""One check of whether an origin can be reached: name resolution, TCP connect and TLS handshake, without a request."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from probes.outcome import SET_UP, Outcome
from probes.route import AT_PROXY, Proxy, Route, UnixSocket, Via
from probes.sample import Sample

SHORTEST_INTERVAL_S: Final = 60.0
"""Seconds between two checks of one origin, at least; the connections of probes come besides."""

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ReachabilityCheck:
    """One check of an origin, as `origin_via` names it, at an instant in milliseconds since the epoch.

    ``outcome`` is ok, dns, connect, tls, timeout or protocol. Times are None where that step was not taken, or not
    finished; ``reference``: the origin is the configured host that belongs to no provider.
    """

    origin: str
    at: int
    outcome: Outcome
    detail: str = ""
    dns_ms: float | None = None
    connect_ms: float | None = None
    tls_ms: float | None = None
    reference: bool = False

    @property
    def ok(self) -> bool:
        """Whether the connection came about."""
        return self.outcome is Outcome.OK


@dataclass(frozen=True, slots=True)
class ReachabilityPlan:
    """How often origins are checked (seconds; None: never), and the reference origin to compare with, by its route."""

    reference: str | None = None
    every: float | None = SHORTEST_INTERVAL_S
    route: Route = field(default_factory=Route)


DEFAULT_PLAN: Final = ReachabilityPlan()
"""What holds where the configuration says nothing."""


def origin_of(url: str) -> str:
    """The origin of an address, the same for HTTP and for the WebSockets of a host; its own port is left out."""
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    host = parts.hostname or ""
    named = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port not in (None, _PORTS.get(scheme)) else ""
    return f"{scheme}://{named}{port}"


def origin_via(url: str, via: Via | None) -> str:
    """The origin of an address and the proxy on the way to it, ``ORIGIN via PROXY``; or the file of a socket."""
    match via:
        case None:
            return origin_of(url)
        case UnixSocket():
            return str(via)
        case Proxy():
            return f"{origin_of(url)} via {via}"


def host_of(origin: str) -> str:
    """The host of what `origin_via` returned; that of a socket's file is this machine."""
    return "localhost" if origin.startswith("unix:") else urlsplit(origin.partition(" ")[0]).hostname or ""


def check_of_probe(sample: Sample, origin: str) -> ReachabilityCheck | None:
    """The check that a probe's own connection set-up was; None where it needed none, or was not sent."""
    if sample.connect_ms is not None and not never_connected(sample):
        times = (sample.dns_ms, sample.connect_ms, sample.tls_ms)
        return ReachabilityCheck(origin, sample.started_at, Outcome.OK, "", *times)
    if never_connected(sample):
        return ReachabilityCheck(origin, sample.started_at, sample.outcome, sample.outcome_detail or "")
    return None


def never_connected(sample: Sample) -> bool:
    """Whether a probe failed before its connection was open.

    A server that wants a client certificate may say so after the handshake (TLS 1.3), or in an HTTP response.
    """
    late = sample.outcome is Outcome.TIMEOUT and (sample.outcome_detail or "").startswith("connect:")
    opened = sample.outcome is Outcome.TLS and (sample.tls_ms is not None or sample.http_status is not None)
    return late or (sample.outcome in SET_UP and not opened)


def failed_at_proxy(sample: Sample) -> bool:
    """Whether a probe failed by its proxy, which stands between here and every endpoint behind it."""
    return never_connected(sample) and (sample.outcome_detail or "").removeprefix("connect: ").startswith(AT_PROXY)
