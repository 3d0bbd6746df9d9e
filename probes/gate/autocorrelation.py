"""By how much an interval has to be wider where neighbouring values are alike; pure."""

import math
from collections.abc import Sequence
from itertools import islice
from operator import mul
from typing import Final

LAGS: Final = 5
"""Values count as possibly alike up to a fifth of their number apart."""


def widening(values: Sequence[float]) -> float:
    """The factor, 1 or more, by which the spread of the mean of ``values`` exceeds that of independent ones.

    ``1 + 2 Σ (1 - k / (L + 1)) r_k`` is how many times the variance of the mean grows, from the autocorrelations
    ``r_k`` up to a lag of ``L`` (Newey and West, Econometrica 55, 1987). They are those of the ranks, which a stall
    cannot bend.
    """
    ranks = _centred_ranks(values)
    whole = math.fsum(map(mul, ranks, ranks))
    if not whole:
        return 1.0
    lags = max(1, len(ranks) // LAGS)
    parts = ((1 - lag / (lags + 1)) * sum(map(mul, ranks, islice(ranks, lag, None))) for lag in range(1, lags + 1))
    return math.sqrt(max(1.0, 1 + 2 * sum(parts) / whole))


def _centred_ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value less the mean of all ranks; equal values have the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for at in order[begin:end]:
            ranks[at] = (begin + end - len(order)) / 2
        begin = end
    return ranks
