"""Tallies: what the samples so far come to, metric by metric, and the engine's last word on itself."""

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
from probes.metrics.table import COMMON, OF_ENGINE, OF_SAMPLES
from probes.sample import Sample
from probes.store.status import WAITED_LONG_S

ALIVE_S: Final = 5.0
"""The engine is asked every second; so long without a word, and its loop hangs."""


@dataclass(frozen=True, slots=True)
class Heap:
    """A histogram's content: how many values fell into each bucket, the last without an upper bound, and their sum."""

    counts: tuple[int, ...]
    sum: float = 0.0

    def plus(self, value: float, bounds: tuple[float, ...]) -> "Heap":
        """The same with one value more; a bucket holds its upper bound."""
        place = bisect_left(bounds, value)
        return Heap((*self.counts[:place], self.counts[place] + 1, *self.counts[place + 1 :]), self.sum + value)


@dataclass(frozen=True, slots=True)
class Family:
    """A metric with the names of its attributes, and its content by their values; an empty value is an absent one."""

    metric: Metric[Any]
    attributes: tuple[str, ...]
    points: Mapping[tuple[str, ...], float | Heap]


class Tallies:
    """Counts on the engine's loop, is read from any thread.

    Nothing is locked, for the loop must not wait: what stands under a key is never changed, only replaced whole.
    """

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self.since_ns = time.time_ns()
        self._servers = {one.name: _server(one.base_url) for one in endpoints}
        self._names = {one.name: one.gen_ai_name or one.name for one in presets().values()}
        self._content: dict[tuple[Metric[Any], tuple[str, ...]], float | Heap] = {}
        self._heard: tuple[float, EngineStatus] | None = None

    def take(self, sample: Sample, _: str = "") -> None:
        """Count a sample; fit to listen to an engine."""
        common = self._common(sample)
        for metric in OF_SAMPLES:
            for own, value in metric.read(sample):
                key = metric, common + own
                if metric.kind == "gauge":
                    self._content[key] = value
                elif metric.kind == "counter":
                    self._content[key] = self._content.get(key, 0.0) + value  # type: ignore[operator]
                else:
                    before = self._content.get(key) or Heap((0,) * (len(metric.buckets) + 1))
                    self._content[key] = before.plus(value, metric.buckets)  # type: ignore[union-attr]

    def hear(self, engine: EngineStatus) -> None:
        """Take the engine's word on itself; to be called every second."""
        self._heard = (time.monotonic(), engine)

    @property
    def alive(self) -> bool:
        """Whether the engine has given its word lately."""
        return self._heard is not None and time.monotonic() - self._heard[0] < ALIVE_S

    def unready(self, now_ms: int) -> str | None:
        """Why samples have waited for the store for more than `WAITED_LONG_S`, at that time; None where none has."""
        store = self._heard[1].store if self._heard else None
        if store is None or (waited_s := store.waited_s(now_ms)) <= WAITED_LONG_S:
            return None
        why = f": {store.detail}" if store.detail else ""
        return f"samples have waited for the store for {waited_s:,.0f} s, {store.waiting:,} of them{why}"

    def families(self) -> list[Family]:
        """Every metric of the table, in its order, also those without content yet."""
        points: dict[Metric[Any], dict[tuple[str, ...], float | Heap]] = {one: {} for one in OF_SAMPLES}
        for (metric, values), content in list(self._content.items()):
            points[metric][values] = content
        found = [Family(one, (*COMMON, *one.attributes), points[one]) for one in OF_SAMPLES]
        heard = self._heard
        own = [Family(one, one.attributes, dict(one.read(heard[1])) if heard else {}) for one in OF_ENGINE]
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


def _server(url: str) -> tuple[str, str]:
    """Host and port of a URL, and nothing else of it."""
    parts = urlsplit(url)
    usual = 443 if parts.scheme in ("https", "wss") else 80
    return parts.hostname or "", str(parts.port or usual)
