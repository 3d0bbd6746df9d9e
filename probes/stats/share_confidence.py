"""Share interval: between which values the true share lies, of which so many of so many were seen; pure."""

import math
from typing import Final

Z: Final = 1.959964
"""Standard deviations of a normal that 95 % of it lie within."""


def interval(part: int, whole: int) -> tuple[float, float] | None:
    """Wilson's score interval (1927) of a share of 1, with 95 % confidence; None where there is no whole.

    It is right on the average also for shares near 0 and 1, and for few: of 0 in 10 it says 0 to 0.28.
    """
    if not whole:
        return None
    share, spread = part / whole, Z * Z / whole
    middle = share + spread / 2
    half = Z * math.sqrt(share * (1 - share) / whole + spread / (4 * whole))
    return max((middle - half) / (1 + spread), 0.0), min((middle + half) / (1 + spread), 1.0)
