"""The ratio of the medians of two time ranges, and its confidence interval; pure.

Both medians have an interval by order statistics (`probes.stats.confidence`). In logarithms a ratio is a difference,
and the interval of a difference follows from those of its two ends: each side is the root of the sum of squares of the
two distances that bound it (MOVER: Donner and Zou, The American Statistician 56, 2002). Nothing is asked of the
distributions, nor that the two are alike. As wide as a sketch's bins it is always: 4 % and less are not told apart.

Samples count as independent of each other. Where a provider drifts within a time range they are not quite, and the
interval says how well the two ranges are known, not what comes next.
"""

import math
from dataclasses import dataclass

from probes.stats.confidence import quantile_interval
from probes.stats.sketch import Sketch


@dataclass(frozen=True, slots=True)
class MedianRatio:
    """Two medians, ``ratio`` = median / ``before``, and where the true one lies with 95 % confidence.

    ``low`` and ``high`` are None where either range has too few values for an interval (six each).
    """

    median: float
    before: float
    low: float | None = None
    high: float | None = None

    @property
    def ratio(self) -> float:
        """How many times the median before this one is."""
        return self.median / self.before

    @property
    def shown(self) -> bool:
        """Whether a difference is shown: there is an interval, and 1 is not in it."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


def compare_medians(sketch: Sketch, before: Sketch) -> MedianRatio | None:
    """The ratio of the median of one distribution to that of the one ``before``; None where either holds nothing."""
    one, other = sketch.quantile(0.5), before.quantile(0.5)
    if one is None or other is None:
        return None
    ends, other_ends = quantile_interval(sketch), quantile_interval(before)
    if ends is None or other_ends is None:
        return MedianRatio(one, other)
    down = math.hypot(math.log(one / ends[0]), math.log(other_ends[1] / other))
    up = math.hypot(math.log(ends[1] / one), math.log(other / other_ends[0]))
    return MedianRatio(one, other, one / other * math.exp(-down), one / other * math.exp(up))
