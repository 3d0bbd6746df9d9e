"""Control: whether the way to one origin is open: name resolution, TCP connect and TLS handshake, without a request."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from probes.outcome import SET_UP, Outcome
from probes.route import AT_PROXY, Proxy, Route, UnixSocket, Via
from probes.sample import Sample

EVERY_S: Final = 60.0
"""The least time between two controls of one origin that are made for their own sake."""

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ReachabilityCheck:
    """One check of the way to an origin (see `way_of`), at an instant in milliseconds since the epoch.

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
    """Which controls a person wants: an origin to compare with, by its route, and how often, seconds; None is never."""

    reference: str | None = None
    every: float | None = EVERY_S
    route: Route = field(default_factory=Route)


USUAL: Final = ReachabilityPlan()
"""Where nobody has said otherwise."""


def origin_of(url: str) -> str:
    """The origin of an address, the same for HTTP and for the WebSockets of a host; its own port is left out."""
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    host = parts.hostname or ""
    named = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port not in (None, _PORTS.get(scheme)) else ""
    return f"{scheme}://{named}{port}"


def way_of(url: str, via: Via | None) -> str:
    """The way to the origin of an address: the origin, and the proxy on the way; or the socket's file."""
    match via:
        case None:
            return origin_of(url)
        case UnixSocket():
            return str(via)
        case Proxy():
            return f"{origin_of(url)} via {via}"


def host_of(way: str) -> str:
    """The host at the end of a way; that of a socket's file is this machine."""
    return "localhost" if way.startswith("unix:") else urlsplit(way.partition(" ")[0]).hostname or ""


def control_of(sample: Sample, origin: str) -> ReachabilityCheck | None:
    """The control that a probe's own connection set-up was; None where it needed none, or was not sent."""
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
