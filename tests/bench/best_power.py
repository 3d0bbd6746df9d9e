"""How often `inftop best` shows a difference: of equal members, where there is none, and of one that is faster.

    python -m tests.bench.best_power [--rounds 2000] [--seed 1]

It prints the tables of `docs/ask.md`. Members are probed once a minute, all over the same time, and TTFT is a logarithm
with a standard deviation of 0.3. Worlds: without drift; a third or half of the variance is drift with a memory of 0.7
from minute to minute, each member for itself (as in `tests.bench.race_power`); and the alerts' world, with heavy tails
and two slow drifts of 10 % each (half-lives of 40 minutes and of a day), in which members that are equal over weeks do
differ for hours. There a difference counts as false where the level of the first was not lower over that window.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Final

from probes.answers.best import best
from probes.answers.now import EndpointNow, SampleNow, StoreNow
from tests.bench.race_power import drifting, lognormal, markdown

SPREAD: Final = 0.3
MINUTE: Final = 60_000
NOW: Final = 1_800_000_000_000
MEMBERS: Final = (2, 3, 6)
MINUTES: Final = (10, 20, 40, 60)
RATIOS: Final = (1.1, 1.2, 1.5, 2.0)

Levels = tuple[list[float], float]
"""The logarithms of TTFT by minute, and the mean of the level that they scatter about."""


def scattered(noise: Callable[[random.Random, int], list[float]], dice: random.Random, minutes: int) -> Levels:
    """A member of a world in which all levels are equal."""
    return [SPREAD * one for one in noise(dice, minutes)], 0.0


def of_the_field(dice: random.Random, minutes: int) -> Levels:
    """A member with heavy tails, and slow drifts."""
    levels = [0.0] * minutes
    for half_life in (40, 1_440):
        memory, level = 0.5 ** (1 / half_life), dice.gauss(0, 0.1)
        for minute in range(minutes):
            levels[minute] += level
            level = memory * level + math.sqrt(1 - memory**2) * dice.gauss(0, 0.1)
    found = [one + dice.gauss(0, SPREAD) + (math.log(dice.paretovariate(1.5)) if dice.random() < 0.03 else 0)
             for one in levels]  # fmt: skip
    return found, sum(levels) / minutes


WORLDS: Final[dict[str, Callable[[random.Random, int], Levels]]] = {
    "independent": partial(scattered, lognormal),
    "a third of it drift": partial(scattered, partial(drifting, 1 / 3)),
    "half of it drift": partial(scattered, partial(drifting, 1 / 2)),
    "heavy tails, slow drifts": of_the_field,
}


def store(members: Sequence[Sequence[float]]) -> StoreNow:
    """A store whose recorder has probed these members, of these logarithms of TTFT, each minute until now."""
    endpoints = []
    for number, logs in enumerate(members):
        begin = NOW - len(logs) * MINUTE
        values = tuple(
            SampleNow(
                begin + minute * MINUTE + number * 1_000, "ok", 300 * math.exp(one), None, None, None, True, False
            )
            for minute, one in enumerate(logs)
        )
        endpoints.append(
            EndpointNow(
                str(number),
                "local",
                "sim",
                "m",
                "g",
                60.0,
                True,
                "warm",
                None,
                None,
                "ok",
                None,
                "",
                NOW,
                0,
                len(logs),
                values,
            )
        )
    return StoreNow(NOW, 60.0 * len(members[0]), "warm", "", (), tuple(endpoints), (), ("g",), ())


def false_differences(rounds: int, seed: int) -> Iterator[list[str]]:
    """Of equal members: how many of 100 answers show the first to be better than another one, and it is not."""
    yield ["world", "members", *(f"{minutes} min" for minutes in MINUTES)]
    for (name, world), count in product(WORLDS.items(), MEMBERS):
        cells = []
        for minutes in MINUTES:
            dice, wrong = random.Random(f"{seed} {name} {count} {minutes}"), 0
            for _ in range(rounds):
                made = [world(dice, minutes) for _ in range(count)]
                answer = best(store([logs for logs, _ in made]), "g")
                levels = {str(number): level for number, (_, level) in enumerate(made)}
                first = levels[answer.ranked[0].endpoint.name]
                wrong += any(
                    one.against_first is not None and one.against_first.shown and levels[one.endpoint.name] <= first
                    for one in answer.ranked[1:]
                )
            cells.append(f"{100 * wrong / rounds:.1f}")
        yield [name, str(count), *cells]


def found(rounds: int, seed: int) -> Iterator[list[str]]:
    """Of one faster member among equal others: how often it is first, and how often shown better than all others."""
    yield ["faster by", "members", *(f"{minutes} min" for minutes in MINUTES)]
    for ratio, count in product(RATIOS, MEMBERS):
        cells = []
        for minutes in MINUTES:
            dice, first, shown = random.Random(f"{seed} {ratio} {count} {minutes}"), 0, 0
            for _ in range(rounds):
                made = [drifting(1 / 3, dice, minutes) for _ in range(count)]
                logs = [[SPREAD * one + (0 if number == 0 else math.log(ratio)) for one in each]
                        for number, each in enumerate(made)]  # fmt: skip
                answer = best(store(logs), "g")
                first += answer.ranked[0].endpoint.name == "0"
                shown += answer.ranked[0].endpoint.name == "0" and not answer.level
            cells.append(f"{100 * first / rounds:.0f} ({100 * shown / rounds:.0f})")
        yield [f"{ratio}×", str(count), *cells]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2_000, help="answers of each cell of the first table")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    print("Of 100 answers about equal members, those that show a difference that is none\n")
    print(markdown(false_differences(wanted.rounds, wanted.seed)))
    print("\nOf 100 answers, those that name the faster member (in brackets: as better than all others)\n")
    print(markdown(found(max(1, wanted.rounds // 4), wanted.seed)))


if __name__ == "__main__":
    main()
