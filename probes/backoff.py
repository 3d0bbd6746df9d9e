"""Exponential back-off: how long to wait before something that failed is tried again."""

import random
from dataclasses import dataclass
from typing import Final

_DOUBLINGS: Final = 64
"""More than lie between any floor and ceiling here; a power of two beyond 1023 would overflow a float."""


@dataclass(frozen=True, slots=True)
class ExponentialBackoff:
    """Delays that double from ``floor_s`` with every failure in a row, and are never longer than ``ceiling_s``."""

    floor_s: float
    ceiling_s: float

    def delay_s(self, failures: int) -> float:
        """The seconds to wait after so many failures in a row: the floor after the first."""
        return min(self.ceiling_s, self.floor_s * 2.0 ** min(failures - 1, _DOUBLINGS))


def jittered(delay_s: float, rng: random.Random, *, share: float, ceiling_s: float) -> float:
    """A delay and a random part of it more, at most ``share`` of it and ``ceiling_s``: never shorter than it was.

    So many that failed together do not come back together.
    """
    return delay_s + rng.uniform(0, min(share * delay_s, ceiling_s))
