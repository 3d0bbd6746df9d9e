"""Median interval: between which values the true median of a sketch's values lies, whatever their distribution; pure.

Of n values the number that lie below the true median is binomial, so that two order statistics hold it between them
with a known probability (Conover, Practical Nonparametric Statistics, 3.2); other quantiles go the same way. The
values count as independent of each other: of a stretch of time it says how well the stretch is known, not the next.
"""

import math
from functools import cache
from typing import Final

from probes.stats.sketch import ACCURACY, Sketch

CONFIDENCE: Final = 0.95

_REACH: Final = 9.0  # standard deviations from the mean beyond which nothing of a binomial is left to count


def interval(sketch: Sketch, confidence: float = CONFIDENCE, share: float = 0.5) -> tuple[float, float] | None:
    """From where to where the true median lies, or the quantile of another ``share`` (0 to 1).

    It leaves out the truth with a probability of at most 1 - ``confidence``, and is as wide as the bins it ends in:
    what a sketch cannot tell apart it does not claim. None of too few values: for 95 % of a median six are needed.
    """
    count = sketch.count
    low, below_high = _rank(count, share, confidence), _rank(count, 1 - share, confidence)
    if not low or not below_high:
        return None
    first, last = sketch.quantiles((low - 1) / (count - 1), (count - below_high) / (count - 1))
    return None if first is None or last is None else (first / (1 + ACCURACY), last / (1 - ACCURACY))


@cache
def _rank(count: int, share: float, confidence: float) -> int:
    """The highest order statistic (from 1 on) that is above the quantile with at most half the chance left; 0: none."""
    if not count or not 0 < share < 1:
        return 0
    mean, deviation = count * share, math.sqrt(count * share * (1 - share))
    at = max(0, math.floor(mean - _REACH * deviation))
    ways = math.lgamma(count + 1) - math.lgamma(at + 1) - math.lgamma(count - at + 1)
    chance = math.exp(ways + at * math.log(share) + (count - at) * math.log1p(-share))
    total = chance
    while total <= (1 - confidence) / 2:
        chance *= (count - at) / (at + 1) * share / (1 - share)
        at += 1
        total += chance
    return at
