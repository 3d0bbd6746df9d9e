"""Control: whether the way to one origin is open: name resolution, TCP connect and TLS handshake, without a request."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from probes.outcome import Outcome
from probes.sample import Sample

SET_UP: Final = frozenset({Outcome.DNS, Outcome.CONNECT, Outcome.TLS})
"""Outcomes of a connection that did not come about."""

EVERY_S: Final = 60.0
"""The least time between two controls of one origin that are made for their own sake."""

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Control:
    """One check of an origin (``scheme://host:port``), at an instant in milliseconds since the epoch.

    ``outcome`` is ok, dns, connect, tls or timeout. Times are None where that step was not taken, or not finished;
    ``reference``: the origin is the configured host that belongs to no provider.
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
class ControlPlan:
    """Which controls a person wants: an origin to compare with, and how often, seconds; None is never."""

    reference: str | None = None
    every: float | None = EVERY_S


USUAL: Final = ControlPlan()
"""Where nobody has said otherwise."""


def origin_of(url: str) -> str:
    """The origin of an address, the same for HTTP and for the WebSockets of a host; its own port is left out."""
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    host = parts.hostname or ""
    named = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port not in (None, _PORTS.get(scheme)) else ""
    return f"{scheme}://{named}{port}"


def control_of(sample: Sample, origin: str) -> Control | None:
    """The control that a probe's own connection set-up was; None where it needed none, or was not sent."""
    if sample.connect_ms is not None:
        times = (sample.dns_ms, sample.connect_ms, sample.tls_ms)
        return Control(origin, sample.started_at, Outcome.OK, "", *times)
    if sample.outcome in SET_UP or never_connected(sample):
        return Control(origin, sample.started_at, sample.outcome, sample.outcome_detail or "")
    return None


def never_connected(sample: Sample) -> bool:
    """Whether a probe failed before its connection was open."""
    late = sample.outcome is Outcome.TIMEOUT and (sample.outcome_detail or "").startswith("connect:")
    return late or sample.outcome in SET_UP
