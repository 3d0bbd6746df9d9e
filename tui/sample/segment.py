"""Segment: one part of a probe's time; the client's and the server's times reconciled, the remainder a part too."""

import math
from dataclasses import dataclass
from typing import Literal

from probes.sample import Sample

Part = Literal[
    "set-up", "dns", "connect", "proxy", "tls", "upgrade", "headers",
    "network", "load", "queue", "prefill", "unexplained", "first token", "decode",
]  # fmt: skip
"""``set-up``: all up to sent, where its parts are not told apart. ``headers``: sent → headers, where nothing came after
them. ``first token``: sent → first output, where the server says nothing of it. Where it does, ``load``, ``queue`` and
``prefill`` are its own words, ``network`` is one round trip (half of it comes after them, but is drawn before them with
the rest), ``unexplained`` what they all leave."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a probe, in milliseconds from the start of its connection set-up (warm: from sent).

    ``server_ms`` is the server's own figure for it, where it sent one; a load, queue or prefill that does not fit into
    what the client saw is cut there, and the figure is not.
    """

    part: Part
    start_ms: float
    stop_ms: float
    server_ms: float | None = None

    @property
    def length_ms(self) -> float:
        """How long it took, as far as the client saw it."""
        return self.stop_ms - self.start_ms


def segments(sample: Sample) -> tuple[Segment, ...]:
    """The parts of a probe in order, each beginning where the one before it ends.

    A part that is not known is absent. Together they are exactly set-up + E2E; of a failed probe, as far as it came.
    Set-up counts only where the probe paid it: a warm connection was open before. Impossible times (negative, not a
    number) count as not known: a server may report anything.
    """
    found: list[Segment] = []
    now = 0.0

    def add(part: Part, ms: float | None, end: float = math.inf, server_ms: float | None = None) -> None:
        nonlocal now
        if ms is not None:
            stop = max(min(now + ms, end), now)
            found.append(Segment(part, now, stop, server_ms))
            now = stop

    if sample.connection != "warm":
        add("dns", _possible(sample.dns_ms))
        add("connect", _possible(sample.connect_ms))
        add("proxy", _possible(sample.proxy_ms))
        add("tls", _possible(sample.tls_ms))
        add("upgrade", _possible(sample.upgrade_ms))
    sent, wait, network = now, _possible(sample.ttft_ms), network_ms(sample)
    if wait is None:
        add("headers", _possible(sample.ttfb_ms))
        return tuple(found)
    if network:
        add("network", network)
    for part, ms in _reported(sample):
        add(part, ms, sent + wait, ms)
    rest = unexplained_ms(sample)
    if rest is None:
        add("first token", wait)
    elif rest:
        add("unexplained", sent + wait - now)
    whole = _possible(sample.e2e_ms)
    if whole is not None and whole > wait:
        add("decode", sent + whole - now, server_ms=_possible(sample.server_decode_ms))
    return tuple(found)


def network_ms(sample: Sample) -> float | None:
    """One round trip of the network, as far as the server's own times leave room for it in the client's TTFT.

    It is an estimate, the server's times are not: where both do not fit, it is cut. None where TTFT, the round trip or
    the server's times are not known.
    """
    left, trip = _left_ms(sample), _possible(sample.round_trip_ms)
    return None if left is None or trip is None else min(trip, left)


def unexplained_ms(sample: Sample) -> float | None:
    """The client's TTFT less the network and the server's own times, ms: scheduling, the first token itself.

    None where the server reports none of them, or there was no first token; never negative: `excess_ms` is the excess.
    """
    left = _left_ms(sample)
    return None if left is None else left - (network_ms(sample) or 0.0)


def _left_ms(sample: Sample) -> float | None:
    """The client's TTFT less the server's own times, ms; never negative."""
    wait, reported = _possible(sample.ttft_ms), _reported_wait(sample)
    return None if wait is None or reported is None else max(wait - reported, 0.0)


def excess_ms(sample: Sample) -> float:
    """By how much the server's own times exceed what the client saw, up to the first token or to the last output.

    The network is not subtracted: its round trip is an estimate, and the server is not to be accused by an estimate.
    """
    wait, whole = _possible(sample.ttft_ms), _possible(sample.e2e_ms)
    before, decode = _reported_wait(sample) or 0.0, _possible(sample.server_decode_ms)
    over = before - wait if wait is not None else 0.0
    over_all = before + decode - whole if whole is not None and decode is not None else 0.0
    return max(over, over_all, 0.0)


def _possible(ms: float | None) -> float | None:
    return ms if ms is not None and math.isfinite(ms) and ms >= 0 else None


def _reported(sample: Sample) -> list[tuple[Part, float]]:
    """The times that the server reports before the first token, in order."""
    reported: tuple[tuple[Part, float | None], ...] = (
        ("load", sample.server_load_ms),
        ("queue", sample.server_queue_ms),
        ("prefill", sample.server_prefill_ms),
    )
    return [(part, known) for part, ms in reported if (known := _possible(ms)) is not None]


def _reported_wait(sample: Sample) -> float | None:
    known = [ms for _, ms in _reported(sample)]
    return sum(known) if known else None
