"""Tallies: the metrics of all samples so far, and of the engine's last status."""

import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from probes.config.presets import presets
from probes.endpoint import Endpoint
from probes.feed.messages import EngineStatus
from probes.metrics.metric import Metric
from probes.metrics.table import COMMON, ENGINE_METRICS, OF_ALL, SAMPLE_METRICS
from probes.sample import Sample
from probes.store.status import WAITED_LONG_S

_IDENTITY: Final = ("inftop.endpoint", "gen_ai.request.model", "server.address", "server.port")

ALIVE_S: Final = 5.0
"""The engine's status is read every second: after so long without one, its loop hangs."""


@dataclass(frozen=True, slots=True)
class HistogramCounts:
    """A histogram's content: how many values fell into each bucket, the last without an upper bound, and their sum."""

    counts: tuple[int, ...]
    sum: float = 0.0

    def plus(self, value: float, bounds: tuple[float, ...]) -> "HistogramCounts":
        """The same with one value more; a bucket holds its upper bound."""
        place = bisect_left(bounds, value)
        return HistogramCounts(
            (*self.counts[:place], self.counts[place] + 1, *self.counts[place + 1 :]), self.sum + value
        )


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """A metric with the names of its attributes, and its points by their values; an empty value is an absent one."""

    metric: Metric[Any]
    attributes: tuple[str, ...]
    points: Mapping[tuple[str, ...], float | HistogramCounts]


class Tallies:
    """Counts samples on the engine's loop; may be read from any thread.

    Nothing is locked, for the loop must not wait: the value of a key is never changed, only replaced.
    """

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self.since_ns = time.time_ns()
        self._servers: dict[str, tuple[str, str]] = {}
        self._gone = frozenset[str]()
        self._names = {one.name: one.gen_ai_name or one.name for one in presets().values()}
        self._points: dict[tuple[Metric[Any], tuple[str, ...]], float | HistogramCounts] = {}
        self._engine: tuple[float, EngineStatus] | None = None
        self.reconfigure(endpoints)

    def reconfigure(self, endpoints: Iterable[Endpoint]) -> None:
        """Take over other endpoints: counts go on; gauges of what is gone, or was changed, are told no more."""
        enabled = [one for one in endpoints if one.enabled]
        self._servers = self._servers | {one.name: _server(one.base_url) for one in enabled}
        self._gone = frozenset(self._servers.keys() - {one.name for one in enabled})
        kept = {(one.name, one.model, *self._servers[one.name]) for one in enabled}
        for metric, values in list(self._points):
            if metric.kind == "gauge" and _identity(values) not in kept:
                del self._points[metric, values]

    def add(self, sample: Sample, _: str = "") -> None:
        """Count a sample; fit as a listener of an engine. Of one that confirms a failure only what it cost counts."""
        common = self._common(sample)
        for metric in SAMPLE_METRICS:
            if sample.kind is not None and metric.name not in OF_ALL:
                continue
            for own, value in metric.read(sample):
                key = metric, common + own
                if metric.kind == "gauge":
                    if sample.endpoint not in self._gone:  # as where it ends the last probe of such a one
                        self._points[key] = value
                elif metric.kind == "counter":
                    self._points[key] = self._points.get(key, 0.0) + value  # type: ignore[operator]
                else:
                    before = self._points.get(key) or HistogramCounts((0,) * (len(metric.buckets) + 1))
                    self._points[key] = before.plus(value, metric.buckets)  # type: ignore[union-attr]

    def update_engine(self, status: EngineStatus) -> None:
        """Take the engine's status; to be called every second."""
        self._engine = (time.monotonic(), status)

    @property
    def alive(self) -> bool:
        """Whether the engine's status was updated within `ALIVE_S`."""
        return self._engine is not None and time.monotonic() - self._engine[0] < ALIVE_S

    def why_not_ready(self, now_ms: int) -> str | None:
        """Why samples have waited for the store for more than `WAITED_LONG_S` by then; None where none has."""
        store = self._engine[1].store if self._engine else None
        if store is None or (waited_s := store.waited_s(now_ms)) <= WAITED_LONG_S:
            return None
        why = f": {store.detail}" if store.detail else ""
        return f"samples have waited for the store for {waited_s:,.0f} s, {store.waiting:,} of them{why}"

    def families(self) -> list[MetricFamily]:
        """Every metric of the table, in its order, also those without points yet."""
        points: dict[Metric[Any], dict[tuple[str, ...], float | HistogramCounts]] = {one: {} for one in SAMPLE_METRICS}
        for (metric, values), point in list(self._points.items()):
            points[metric][values] = point
        found = [MetricFamily(one, (*COMMON, *one.attributes), points[one]) for one in SAMPLE_METRICS]
        status = self._engine[1] if self._engine else None
        own = [MetricFamily(one, one.attributes, dict(one.read(status)) if status else {}) for one in ENGINE_METRICS]
        return [*found, *own]

    def _common(self, sample: Sample) -> tuple[str, ...]:
        """The values of `COMMON`."""
        return (
            sample.endpoint,
            sample.vantage,
            sample.connection or "",
            "chat",
            self._names.get(sample.provider, sample.provider),
            sample.model,
            *self._servers.get(sample.endpoint, ("", "")),
        )


def _identity(values: tuple[str, ...]) -> tuple[str, ...]:
    """Endpoint, model, host and port of a point, by the values of its attributes."""
    by_name = dict(zip(COMMON, values, strict=False))
    return tuple(by_name[one] for one in _IDENTITY)


def _server(url: str) -> tuple[str, str]:
    """Host and port of a URL, and nothing else of it."""
    parts = urlsplit(url)
    default_port = 443 if parts.scheme in ("https", "wss") else 80
    return parts.hostname or "", str(parts.port or default_port)
