"""Prometheus: tallies as metric families of prometheus_client, whose registry is ours alone."""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Rendered
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from probes.metrics.metric import label
from probes.metrics.tallies import Family, Heap, Tallies


def registry(tallies: Tallies) -> CollectorRegistry:
    """A registry that asks the tallies at every scrape."""
    made = CollectorRegistry()
    made.register(_Collector(tallies))
    return made


class _Collector(Collector):
    def __init__(self, tallies: Tallies) -> None:
        self._tallies = tallies

    def collect(self) -> Iterator[Rendered]:
        return map(_rendered, self._tallies.families())


def _rendered(family: Family) -> Rendered:
    metric, labels = family.metric, [label(one) for one in family.attributes]
    if metric.kind == "histogram":
        made = HistogramMetricFamily(metric.prometheus, metric.help, labels=labels)
        bounds = [*map(floatToGoString, metric.buckets), "+Inf"]
        for values, heap in family.points.items():
            if isinstance(heap, Heap):
                made.add_metric(values, list(zip(bounds, accumulate(heap.counts), strict=True)), heap.sum)
        return made
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    flat: CounterMetricFamily | GaugeMetricFamily = kind(metric.prometheus, metric.help, labels=labels)
    for values, value in family.points.items():
        if not isinstance(value, Heap):
            flat.add_metric(values, value)
    return flat
