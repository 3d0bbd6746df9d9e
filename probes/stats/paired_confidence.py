"""The confidence interval of the median of a few paired log ratios; pure, without random numbers.

It is a bootstrap interval of the median, computed exactly over all resamples. Of few heats that is far too narrow (of
five equal ones it would call one in sixteen different), so it is never narrower than what a test of known error allows:
Wilcoxon's signed ranks where there are pairs enough for them, Student's t where there are not. Of two equal lanes the
log ratios are symmetric about 0, however their times are distributed, which is all that the signed ranks ask for; heavy
tails only make t more cautious.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from operator import add
from statistics import fmean, stdev
from typing import Final

FEWEST: Final = 3
"""Pairs below which there is no interval: any two numbers can be close to each other by luck."""

MOST: Final = 100
"""Pairs up to which it is foreseen how many decide: a race has no more heats."""

CHANCE: Final = 0.02
"""How often equal lanes may be called different: well below the 5 % that the interval is told with."""

_BOOTSTRAP: Final = 0.05


def chance_of_look(pairs: int) -> float:
    """The part of `CHANCE` that one look after ``pairs`` pairs may use, if somebody looks after every heat.

    The parts ``2 / (n (n - 1))`` from `FEWEST` on sum to 1, so that all looks together err no more often than one.
    """
    return CHANCE * (FEWEST - 1) / (pairs * (pairs - 1))


def paired_interval(logs: Sequence[float], chance: float = CHANCE) -> tuple[float, float] | None:
    """The interval of the true median of ``logs``, with at least 95 % confidence; None of fewer than three.

    It misses the true median with a probability of at most ``chance``, and holds the median of ``logs``.
    """
    n = len(logs)
    if n < FEWEST:
        return None
    ordered = sorted(logs)
    rank = _bootstrap_rank(n)
    low, high = _signed_ranks(ordered, chance) if 2.0 ** (1 - n) <= chance else _student(ordered, chance)
    return min(low, ordered[rank - 1]), max(high, ordered[n - rank])


def more_pairs(logs: Sequence[float], chance: float, margin: float) -> int | None:
    """About how many more pairs make the interval exclude 0, or lie within ``margin`` either way.

    As if all to come had the mean and the spread of those so far; None of fewer than two, and beyond `MOST`.
    """
    if len(logs) < 2:
        return None
    middle, spread = abs(fmean(logs)), stdev(logs)
    for n in range(max(len(logs) + 1, FEWEST), MOST + 1):
        half = _t(n - 1, chance) * spread / math.sqrt(n)
        if half < middle or middle + half < margin:
            return n - len(logs)
    return None


@cache
def _bootstrap_rank(n: int) -> int:
    """Which order statistic is the 2.5 % quantile of the median of all ``n ** n`` resamples (Efron 1979).

    A resample's median is at most the k-th of the values where at least half of its draws are; draws are binomial.
    """
    half = (n + 1) // 2
    return 1 + bisect_right(range(1, n + 1), _BOOTSTRAP / 2, key=lambda k: _at_least(half, n, k / n))


def _at_least(least: int, n: int, p: float) -> float:
    """The probability that a binomial of ``n`` draws with chance ``p`` is ``least`` or more."""
    return math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(least, n + 1))


def _signed_ranks(ordered: Sequence[float], chance: float) -> tuple[float, float]:
    """Wilcoxon's signed-rank test inverted: an interval of means of two values (Hodges and Lehmann 1963)."""
    means = sorted([(one + other) / 2 for one, other in combinations_with_replacement(ordered, 2)])
    outside = _rank_sums(len(ordered), chance)
    return means[outside - 1], means[-outside]


@cache
def _rank_sums(n: int, chance: float) -> int:
    """How many rank sums from 0 up have a probability of at most ``chance`` / 2 together, ``n`` signs being random."""
    ways = [1.0] + [0.0] * (n * (n + 1) // 4)
    for rank in range(1, n + 1):
        ways = ways[:rank] + list(map(add, ways[rank:], ways))
    room = chance / 2 * 2.0**n
    total = 0.0
    for count, way in enumerate(ways):
        total += way
        if total > room:
            return count
    return len(ways)


def _student(ordered: Sequence[float], chance: float) -> tuple[float, float]:
    """The interval of Student's t for the mean of the values."""
    n = len(ordered)
    middle, half = fmean(ordered), _t(n - 1, chance) * stdev(ordered) / math.sqrt(n)
    return middle - half, middle + half


@cache
def _t(freedom: int, chance: float) -> float:
    """The t that luck exceeds, up or down, with probability ``chance``; by halving, to ten digits."""
    low, high = 0.0, math.pi / 2
    while high - low > 1e-12:
        angle = (low + high) / 2
        low, high = (angle, high) if 1 - _within(angle, freedom) > chance else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """P(-t <= T <= t) where ``tan(angle) = t / sqrt(freedom)`` (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for power in range(2 + odd, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (power - 1) / power
    spread = math.sin(angle) * total
    return 2 / math.pi * (angle + spread) if odd else spread
