"""When a gate looks at what it has, and how much chance of error each look may use up; pure.

Who looks often finds luck sooner or later. So each look has a part of the whole chance of error, and the parts add up
to it (Bonferroni's inequality: true however the looks depend on each other, also where speeds drift). How much is used
up by a share ``t`` of the most rounds is alpha × t ** power (Kim and DeMets 1987). To fail, `FAIL_POWER` leaves most of
it to the last looks, where what is 1.5 times as slow is found; `PASS_POWER` spreads it more evenly, so that what has
not changed is passed with fewer probes. Both were chosen by simulation.
"""

import math
from bisect import bisect_right
from typing import Final

ALPHA_FAIL: Final = 0.05
"""How often a gate may fail what is exactly as bad as the margin, all looks, metrics and endpoints together."""

ALPHA_PASS: Final = 0.05
"""How often a gate may pass what is exactly as bad as the margin."""

FIRST: Final = (10, 20, 40, 70, 100)
FAIL_POWER: Final = 3.0
PASS_POWER: Final = 1.5


def looks(most: int) -> tuple[int, ...]:
    """After how many rounds to look, of at most ``most``, the last; beyond 100 each time at half as many more.

    None is between four fifths of ``most`` and ``most``: what it used up would be missing at the last.
    """
    found = list(FIRST)
    while found[-1] < most:
        found.append(found[-1] * 3 // 2)
    return (*found[: bisect_right(found, most * 4 // 5)], most)


def spent(alpha: float, power: float, rounds: int, most: int) -> float:
    """How much of the chance of error ``alpha`` the look after ``rounds`` may use up, of at most ``most`` rounds."""
    before = max((one for one in looks(most) if one < rounds), default=0)
    return alpha * (math.pow(rounds / most, power) - math.pow(before / most, power))
