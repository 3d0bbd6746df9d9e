"""Intervals of a failure rate and of the difference of two, for any chance of error on each side; pure."""

import math
from statistics import NormalDist

from probes.stats.confidence import share_interval


def proportion_interval(part: int, whole: int, chance: float, wider: float = 1.0) -> tuple[float, float]:
    """Wilson's score interval (1927) of the share behind ``part`` of ``whole``.

    Each end misses the truth with about ``chance``. ``wider``: the factor by which neighbours that are alike widen it;
    the interval is that of ``whole / wider ** 2`` independent ones.
    """
    found = share_interval(part / wider**2, whole / wider**2, -NormalDist().inv_cdf(chance))
    return found or (0.0, 1.0)


def difference_interval(
    new: tuple[int, int], base: tuple[int, int], chance: float, wider: float = 1.0
) -> tuple[float, float]:
    """The interval of the first share less the second, each given as part and whole.

    It is made of the two Wilson intervals (Newcombe, Statistics in Medicine 17, 1998, method 10).
    """
    (low, high), (base_low, base_high) = (proportion_interval(*one, chance, wider) for one in (new, base))
    one, two = new[0] / new[1], base[0] / base[1]
    return one - two - math.hypot(one - low, base_high - two), one - two + math.hypot(high - one, two - base_low)
