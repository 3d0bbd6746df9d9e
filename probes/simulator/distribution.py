"""Distributions: a number drawn for every request from a seeded generator."""

import math
from dataclasses import dataclass
from random import Random
from typing import Protocol


class Distribution(Protocol):
    """Anything a number can be drawn from; the same generator state gives the same number."""

    def draw(self, rng: Random) -> float:
        """One number, in the unit of the field that holds the distribution."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """Always ``value``."""

    value: float

    def draw(self, rng: Random) -> float:  # noqa: ARG002  a constant needs no chance
        """``value``."""
        return self.value


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal, but never under a tenth of the mean: an answer at a speed of zero would never end."""

    mean: float
    deviation: float

    def draw(self, rng: Random) -> float:
        """One number."""
        return max(self.mean / 10, rng.gauss(self.mean, self.deviation))


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Log-normal, the shape of real waiting times; ``spread`` is the deviation of the logarithm."""

    median: float
    spread: float

    def draw(self, rng: Random) -> float:
        """One number."""
        return self.median * math.exp(rng.gauss(0.0, self.spread))


@dataclass(frozen=True, slots=True)
class Sometimes:
    """``value`` in a ``share`` of the requests, else nothing."""

    share: float
    value: Distribution

    def draw(self, rng: Random) -> float:
        """One number, or 0."""
        return self.value.draw(rng) if rng.random() < self.share else 0.0
