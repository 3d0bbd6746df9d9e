"""A store with a made-up month of three endpoints, for tests and pictures of one endpoint's screen.

The first is recorded in two places, slower on afternoons, and nobody recorded for a day; of its first ten days only the
rollups are kept. The second is probed warm and cold in turn. Nothing is stored of the third.
"""

import random
from pathlib import Path

from msgspec.structs import replace

from probes.outcome import Outcome
from probes.sample import Sample
from tests.store.stores import fill, other
from tests.tui import fabric
from tests.tui.fabric import HABITS, HOUR, NOW

FIRST, SECOND, THIRD = (habit.name for habit in HABITS[:3])
DAY = 24 * HOUR
KEPT_SINCE = NOW - 20 * DAY
ANSWER = "The keeper counted the ships by their lamps.\n\nNot by their names."
TROUBLES = (Outcome.TIMEOUT, Outcome.OVERLOADED, Outcome.RATE_LIMITED)


def fill_month(path: Path) -> None:
    """Store it."""
    dice = random.Random(7)
    samples = [*_every(dice, FIRST, "local", 60, 30), *_every(dice, FIRST, "fra", 240, 30, slower=1.4)]
    samples += [
        replace(one, connection=("warm", "cold")[place % 2])
        for place, one in enumerate(_every(dice, SECOND, "local", 30, 2, alternately=3.0))
    ]
    samples.sort(key=lambda one: one.started_at)
    last = max(one.started_at for one in samples if one.endpoint == FIRST)
    fill(path, [(one, ANSWER) if one.started_at == last else one for one in samples])
    with other(path) as connection:
        connection.execute(f"DELETE FROM sample WHERE started_at < {KEPT_SINCE}")


def _every(
    dice: random.Random, name: str, vantage: str, minutes: int, days: int, slower: float = 1.0, alternately: float = 1.0
) -> list[Sample]:
    habit = next(one for one in HABITS if one.name == name)
    found = []
    for number in range(days * 24 * 60 // minutes):
        at = NOW - 90_000 - number * minutes * 60_000 - len(vantage) * 1000
        if NOW - 12 * DAY < at < NOW - 11 * DAY:
            continue
        busy = 1.5 if 13 <= at // HOUR % 24 < 19 else 1.0
        one = fabric.sample(habit, at, dice, 0.5)
        ttft = one.ttft_ms * busy * slower * (alternately if number % 2 else 1.0)
        times = {"ttft_ms": ttft, "ttfa_ms": ttft * 1.1, "e2e_ms": ttft + 128_000 / one.tokens_per_s}
        one = replace(one, vantage=vantage, gap_max_ms=dice.lognormvariate(2, 0.6), **times)
        if dice.random() < 0.03:
            one = replace(
                one,
                outcome=dice.choice(TROUBLES),
                outcome_detail="said no",
                ttft_ms=None,
                tokens_per_s=None,
                e2e_ms=None,
            )
        found.append(one)
    return found
