"""How often a race names a winner: among equal lanes, where it is false, and among lanes of which one is faster.

    python -m tests.bench.race_power [--races 4000] [--seed 1]

It prints the two tables of `docs/races.md`, in about two minutes. Races are simulated as logarithms of speed, one for
each lane and heat, and judged by the intervals that `probes.race.verdict.decide` judges by (a test holds the two
together). Spreads are standard deviations of one lane's logarithm in one heat. Drift is an autoregressive process of
the first order with a memory of 0.7, of each lane for itself; a third, half or all of the variance is drift, and the
rest is independent noise.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Final

from probes.stats.paired_confidence import FEWEST, paired_interval
from probes.stats.quantiles import median

HEATS: Final = (3, 5, 8, 12, 20)
LANES: Final = (2, 3, 4)
RATIOS: Final = (1.05, 1.1, 1.2, 1.5, 2.0)
SPREADS: Final = (0.03, 0.1, 0.3)
MEMORY: Final = 0.7
MEASURES: Final = 4

Noise = Callable[[random.Random, int], list[float]]
"""Makes the noise of one lane in a number of heats, with a spread of about 1."""


def lognormal(dice: random.Random, heats: int) -> list[float]:
    """Times that are log-normal, the same in every heat."""
    return [dice.gauss(0, 1) for _ in range(heats)]


def contaminated(dice: random.Random, heats: int) -> list[float]:
    """Log-normal times, one of ten of them with five times the spread."""
    return [dice.gauss(0, 5 if dice.random() < 0.1 else 1) for _ in range(heats)]


def skewed(dice: random.Random, heats: int) -> list[float]:
    """Times that are never shorter than usual and often longer."""
    return [-dice.expovariate(1) for _ in range(heats)]


def drifting(share: float, dice: random.Random, heats: int) -> list[float]:
    """Log-normal times of which a ``share`` of the variance is drift from heat to heat."""
    level, found = dice.gauss(0, 1), []
    for _ in range(heats):
        found.append(math.sqrt(share) * level + math.sqrt(1 - share) * dice.gauss(0, 1))
        level = MEMORY * level + math.sqrt(1 - MEMORY**2) * dice.gauss(0, 1)
    return found


NOISES: Final[dict[str, Noise]] = {
    "independent, log-normal": lognormal,
    "independent, with outliers": contaminated,
    "independent, skewed": skewed,
    "a third of it drift": partial(drifting, 1 / 3),
    "half of it drift": partial(drifting, 1 / 2),
    "all of it drift": partial(drifting, 1.0),
}


def winner(lanes: Sequence[Sequence[float]], *, every_look: bool = False) -> int | None:
    """The lane that is shown to be faster than each other one, by the logarithms of their speeds in each heat."""
    for place, one in enumerate(lanes):
        others = [lane for at, lane in enumerate(lanes) if at != place]
        logs = [[mine - yours for mine, yours in zip(one, other, strict=True)] for other in others]
        if all((median(each) or 0) > 0 for each in logs):
            intervals = [paired_interval(each, every_look=every_look) for each in logs]
            return place if all(found is not None and found[0] > 0 for found in intervals) else None
    return None


def first_winner(lanes: Sequence[Sequence[float]]) -> int | None:
    """The winner of a race that is looked at after every heat and ends with the first winner."""
    looks = (winner([lane[:heats] for lane in lanes], every_look=True) for heats in range(FEWEST, len(lanes[0]) + 1))
    return next((found for found in looks if found is not None), None)


def race(dice: random.Random, noise: Noise, lanes: int, heats: int, ratio: float = 1.0, spread: float = 1.0):
    """The logarithms of the speeds of a race; the first lane is ``ratio`` times as fast as the others."""
    found = [[spread * one for one in noise(dice, heats)] for _ in range(lanes)]
    return [[one + math.log(ratio) for one in found[0]], *found[1:]]


def percent(found: Iterable[bool]) -> str:
    """How many of 100 are so."""
    flags = list(found)
    return f"{100 * sum(flags) / len(flags):.1f}"


def false_winners(races: int, seed: int) -> Iterator[list[str]]:
    """Of equal lanes by noise and number of lanes: how many of 100 races have a winner."""
    yield ["noise", "lanes", *(f"{heats} heats" for heats in HEATS), f"until decided, {HEATS[-1]} at most"]
    for (name, noise), lanes in product(NOISES.items(), LANES):
        dice = random.Random(f"{seed} {name} {lanes}")
        cells = [percent(winner(race(dice, noise, lanes, heats)) is not None for _ in range(races)) for heats in HEATS]
        ends = percent(first_winner(race(dice, noise, lanes, HEATS[-1])) is not None for _ in range(races // 2))
        yield [name, str(lanes), *cells, ends]
    dice = random.Random(f"{seed} measures")
    cells = [
        percent(any(winner(race(dice, lognormal, 2, heats)) is not None for _ in range(MEASURES)) for _ in range(races))
        for heats in HEATS
    ]
    yield [f"independent, any of {MEASURES} measures", "2", *cells, ""]


def power(races: int, seed: int) -> Iterator[list[str]]:
    """Of lanes of which one is faster, in independent heats: how many of 100 races it wins."""
    yield ["faster by", "spread", "lanes", *(f"{heats} heats" for heats in HEATS)]
    for ratio, spread, lanes in product(RATIOS, SPREADS, LANES):
        dice = random.Random(f"{seed} {ratio} {spread} {lanes}")
        cells = [
            percent(winner(race(dice, lognormal, lanes, heats, ratio, spread)) == 0 for _ in range(races))
            for heats in HEATS
        ]
        yield [f"{ratio}×", str(spread), str(lanes), *cells]


def markdown(rows: Iterable[Sequence[str]]) -> str:
    """A table, its first row the head."""
    head, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rest))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=4000, help="races of each cell of the first table")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("False winners, of 100 races of equal lanes\n")
    print(markdown(false_winners(arguments.races, arguments.seed)))
    print("\nRaces won, of 100, by a lane that is faster\n")
    print(markdown(power(arguments.races // 2, arguments.seed)))


if __name__ == "__main__":
    main()
