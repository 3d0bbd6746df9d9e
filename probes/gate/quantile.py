"""The interval of a quantile by order statistics, widened where neighbouring values are alike; pure."""

import math
from collections.abc import Sequence

from probes.gate.autocorrelation import widening
from probes.stats.order_statistics import rank_outside
from probes.stats.quantiles import quantile


def quantile_interval(values: Sequence[float], share: float, chance: float) -> tuple[float, float]:
    """Two of ``values`` (in the order they came) that hold the true quantile of ``share`` between them.

    Each misses it with a probability of at most ``chance`` (Conover, Practical Nonparametric Statistics, 3.2). Where
    values above the quantile come in a row, the ranks move apart by as much as for fewer independent values. Where too
    few are beyond a rank, that end is infinite.
    """
    ordered, n = sorted(values), len(values)
    middle = quantile(ordered, share)
    wider = widening([float(one > (middle or 0.0)) for one in values])
    below, above = rank_outside(n, share, 1 - 2 * chance), rank_outside(n, 1 - share, 1 - 2 * chance)
    low = math.floor(n * share - wider * (n * share - below)) if below else 0
    high = math.floor(n * (1 - share) - wider * (n * (1 - share) - above)) if above else 0
    return ordered[low - 1] if low > 0 else -math.inf, ordered[-high] if high > 0 else math.inf
