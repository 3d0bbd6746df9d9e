"""How many characters a token has in an endpoint's own answers: what the next one's count is held against; pure."""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from probes.outcome import Outcome
from probes.sample import Sample
from probes.stats.quantiles import quantile

USUAL_ANSWERS: Final = 8
"""How many earlier answers it takes, at least, for their characters per token to be known."""

USUAL_TOKENS: Final = 16
"""Shorter answers say nothing about the characters per token."""

ORDINARY_SPREAD: Final = 0.3
"""Divided by √n: answers of n tokens to one prompt differ in their characters per token by this share at least, as a
standard deviation: by a fiftieth where they have 200 tokens."""

MOST_SPREAD: Final = 0.05
"""Answers that differ by more hold hidden tokens in varying number, or are too short to tell."""

FAR: Final = 3.3
"""Standard deviations below the 90 % quantile of which one of forty ordinary answers is, and above it next to none."""


class UsualDensity(NamedTuple):
    """The characters per token of an endpoint's answers: their 90 % quantile, and their standard deviation over it."""

    chars_per_token: float
    spread: float

    def range(self, tokens: float) -> tuple[float, float]:
        """The characters per token of ordinary answers of so many tokens.

        One with fewer holds hidden tokens; the count of one with more leaves some of its tokens out.
        """
        far = FAR * max(self.spread, ORDINARY_SPREAD / math.sqrt(max(tokens, 1.0)))
        return self.chars_per_token * (1 - far), self.chars_per_token * (1 + far)


def usual_density(samples: Iterable[Sample]) -> UsualDensity | None:
    """How many characters a token has in an endpoint's answers to one prompt; None of too few, or too uneven, answers.

    The answers with the most characters per token hold the fewest hidden tokens, so that the upper half of them says
    how ordinary answers differ. Answers whose reasoning is counted apart are left out: a sample does not say which
    characters are the answer's.
    """
    known: list[float] = sorted(
        one.output_chars / one.output_tokens
        for one in samples
        if one.outcome is Outcome.OK and one.token_source == "usage" and not one.reasoning_tokens  # noqa: S105
        if one.output_chars and one.output_tokens and one.output_tokens >= USUAL_TOKENS
    )
    lower, usual = quantile(known, 0.65), quantile(known, 0.9)
    if len(known) < USUAL_ANSWERS or lower is None or usual is None:
        return None
    spread = (usual - lower) / 0.9 / usual  # of a normal distribution: 1.28 σ − 0.39 σ
    return UsualDensity(usual, spread) if spread <= MOST_SPREAD else None
