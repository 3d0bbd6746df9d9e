"""Tallies as metric families of prometheus_client, in a registry of our own."""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as PrometheusMetric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from probes.metrics.metric import label
from probes.metrics.tallies import HistogramCounts, MetricFamily, Tallies


def registry(tallies: Tallies) -> CollectorRegistry:
    """A registry that reads the tallies at every scrape."""
    made = CollectorRegistry()
    made.register(_Collector(tallies))
    return made


class _Collector(Collector):
    def __init__(self, tallies: Tallies) -> None:
        self._tallies = tallies

    def collect(self) -> Iterator[PrometheusMetric]:
        return map(_prometheus_metric, self._tallies.families())


def _prometheus_metric(family: MetricFamily) -> PrometheusMetric:
    metric, labels = family.metric, [label(one) for one in family.attributes]
    if metric.kind == "histogram":
        made = HistogramMetricFamily(metric.prometheus, metric.help, labels=labels)
        bounds = [*map(floatToGoString, metric.buckets), "+Inf"]
        for values, point in family.points.items():
            if isinstance(point, HistogramCounts):
                made.add_metric(values, list(zip(bounds, accumulate(point.counts), strict=True)), point.sum)
        return made
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    flat: CounterMetricFamily | GaugeMetricFamily = kind(metric.prometheus, metric.help, labels=labels)
    for values, point in family.points.items():
        if not isinstance(point, HistogramCounts):
            flat.add_metric(values, point)
    return flat
