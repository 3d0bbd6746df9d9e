"""Which recorder of those that share a vantage is to measure which endpoint: in equal shares, with few moves; pure.

Each recorder asks this of what the store says now, and does its own part: it lets go what is another's to measure, and
takes what is its own and free. Whoever asks of the same gets the same answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sharer:
    """A live recorder and the endpoints of its configuration, by name.

    One that is not ``settled`` has not lived long enough for others to let go of anything for it: one that begins and
    ends again and again moves nothing.
    """

    run: str
    endpoints: frozenset[str]
    settled: bool = True


def allocate(sharers: Sequence[Sharer], held: Mapping[str, str]) -> dict[str, str]:
    """The run of who is to measure each endpoint; ``held`` has those that are measured now, by run.

    Every endpoint of a live recorder's configuration is somebody's, and of nobody who has it not in its own. Shares of
    settled recorders with equal configurations differ by one at most; nothing moves where they do already.
    """
    able = {one.run: one.endpoints for one in sharers}
    target = {name: run for name, run in held.items() if name in able.get(run, frozenset())}
    shares = {one.run: {name for name, run in target.items() if run == one.run} for one in sharers}
    for name in sorted(frozenset[str]().union(*able.values()) - target.keys()):
        run = min((one.run for one in sharers if name in one.endpoints), key=lambda run: len(shares[run]))
        shares[run].add(name)
    while (move := _next_move(sharers, shares, held)) is not None:
        name, giver, taker = move
        shares[giver].remove(name)
        shares[taker].add(name)
    return {name: run for run, names in shares.items() for name in names}


def _next_move(
    sharers: Sequence[Sharer], shares: Mapping[str, set[str]], held: Mapping[str, str]
) -> tuple[str, str, str] | None:
    """An endpoint to move, from whom and to whom, where one has two more than another; None where none has to.

    One that nobody measures yet moves first.
    """
    takers = sorted((one for one in sharers if one.settled), key=lambda one: len(shares[one.run]))
    for giver in sorted(shares, key=lambda run: -len(shares[run])):
        for taker in takers:
            if len(shares[giver]) - len(shares[taker.run]) < 2:
                break
            if movable := shares[giver] & taker.endpoints:
                return min(movable, key=lambda name: (name in held, name)), giver, taker.run
    return None
