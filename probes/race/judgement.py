"""Judgement: from the heats of a race to who is faster, by how much, and whether that was luck; pure."""

from dataclasses import dataclass
from typing import Final, Literal

Metric = Literal["ttft_ms", "e2e_ms", "tokens_per_s", "chars_per_s"]

DECIDING: Final[Metric] = "chars_per_s"
"""Characters of output over E2E: what a reader waits for, whatever the tokenizer and however long the answer."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One lane against another by one metric, heat by heat.

    ``ratio`` is the median of how many times better the lane was (2.0: half the time, or twice the speed), ``low``
    and ``high`` its 95 % interval; None where too few heats allow none. Pairs where either lane has no value do not
    count; a pair that is equal is neither won nor lost.
    """

    metric: Metric
    ratio: float | None
    low: float | None
    high: float | None
    wins: int
    losses: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Duel:
    """One lane against another one, by every metric."""

    lane: str
    against: str
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong in a lane, and in how many heats."""

    lane: str
    words: str
    heats: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the heats so far show. ``winner`` is None where no difference is shown; ``leader`` is who is ahead anyway.

    ``duels`` has the leader against each other lane. ``words`` is one sentence for a person.
    """

    winner: str | None
    leader: str | None
    heats: int
    duels: tuple[Duel, ...]
    faults: tuple[Fault, ...]
    words: str
