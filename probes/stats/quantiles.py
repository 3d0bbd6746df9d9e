"""Stats: quantiles, medians and rates of what was measured; None-aware and pure."""

from collections.abc import Iterable, Sequence


def known(values: Iterable[float | None]) -> list[float]:
    """The values that are known, ascending: what `quantile` wants."""
    return sorted(value for value in values if value is not None)


def quantile(ascending: Sequence[float], q: float) -> float | None:
    """The ``q`` quantile (0 to 1) of ascending values, by linear interpolation (type 7); None of nothing.

    Type 7 is what numpy, R and Excel do by default: position ``q * (n - 1)`` between the order statistics.
    Raises ValueError for a ``q`` outside 0 to 1.
    """
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"a quantile lies between 0 and 1, not at {q}")
    if not ascending:
        return None
    position = q * (len(ascending) - 1)
    below = int(position)
    low = ascending[below]
    if below + 1 == len(ascending):
        return low
    return low + (ascending[below + 1] - low) * (position - below)


def median(values: Iterable[float | None]) -> float | None:
    """The median of the known values, in any order; None of nothing."""
    return quantile(known(values), 0.5)


def rate(part: int, whole: int) -> float | None:
    """``part`` of ``whole`` as a share of 1; None where there is no whole to be a part of."""
    return part / whole if whole else None


def ratio(value: float | None, best: float | None) -> float | None:
    """How many times the best value this one is; None where either is not known or the best is nothing."""
    return None if value is None or not best else value / best


def chars_per_s(output_chars: int | None, e2e_ms: float | None) -> float | None:
    """Output characters / E2E, characters per second; None without output or without a time."""
    return output_chars / e2e_ms * 1000 if output_chars and e2e_ms else None


def setup_ms(
    dns_ms: float | None,
    connect_ms: float | None,
    proxy_ms: float | None,
    tls_ms: float | None,
    upgrade_ms: float | None,
) -> float | None:
    """Connection set-up, milliseconds: dns + connect + proxy + tls + upgrade, as far as there were any, or None."""
    return (
        None if connect_ms is None else connect_ms + sum(one or 0.0 for one in (dns_ms, proxy_ms, tls_ms, upgrade_ms))
    )
