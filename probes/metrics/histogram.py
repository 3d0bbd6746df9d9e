"""The content of a histogram: its buckets, those of a native histogram, and the newest sample in each."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

SCHEMA: Final = 4
"""How fine native histograms are: each bucket's bound is 2 ** (1 / 2 ** SCHEMA) = 1.044 times the one before."""


class Exemplar(NamedTuple):
    """The sample behind an observation: its id, the value observed, and when it began, in seconds since the epoch."""

    sample_id: str
    value: float
    at: float


@dataclass(frozen=True, slots=True)
class HistogramCounts:
    """How many values fell into each bucket, the last without an upper bound, and their sum.

    ``native`` counts the values above 0 by the index of their bucket in Prometheus's native histograms, ``zeros`` the
    others. ``exemplars`` has the newest of each bucket, by its place.
    """

    counts: tuple[int, ...]
    sum: float = 0.0
    native: Mapping[int, int] = field(default_factory=dict)
    zeros: int = 0
    exemplars: Mapping[int, Exemplar] = field(default_factory=dict)

    def plus(
        self, value: float, bounds: tuple[float, ...], times: int = 1, exemplar: Exemplar | None = None
    ) -> "HistogramCounts":
        """These counts and one value more, observed ``times`` times; a bucket holds its upper bound."""
        place, native, zeros = bisect_left(bounds, value), self.native, self.zeros
        if value > 0:
            index = native_index(value)
            native = {**native, index: native.get(index, 0) + times}
        else:
            zeros += times
        return HistogramCounts(
            (*self.counts[:place], self.counts[place] + times, *self.counts[place + 1 :]),
            self.sum + value * times,
            native,
            zeros,
            self.exemplars if exemplar is None else {**self.exemplars, place: exemplar},
        )

    def in_one_bucket(self) -> "HistogramCounts":
        """These counts with all buckets merged into one without a bound, and only the newest exemplar."""
        newest = max(self.exemplars.values(), key=lambda one: one.at, default=None)
        exemplars = {} if newest is None else {0: newest}
        return HistogramCounts((sum(self.counts),), self.sum, self.native, self.zeros, exemplars)


def native_index(value: float) -> int:
    """The bucket of a value above 0: bucket i holds what is above 2 ** ((i - 1) / 2 ** SCHEMA), up to the next bound.

    As in https://prometheus.io/docs/specs/native_histograms/#schema.
    """
    return math.ceil(math.log2(value) * 2**SCHEMA)
