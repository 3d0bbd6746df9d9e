"""How the places that probe an endpoint agree on its state."""

from collections.abc import Mapping
from typing import Final

from probes.alerts.settings import Quorum
from probes.alerts.state import State

_RANK: Final = {state: rank for rank, state in enumerate(State)}


def agreed(votes: Mapping[str, State], quorum: Quorum) -> State | None:
    """The worst state that as many vantages as must agree are in, or in a worse one; None where none has a vote.

    ``votes`` are the states by vantage. One without data has no vote unless none has any. More vantages than there
    are need not agree.
    """
    states: list[State] = [state for state in votes.values() if state is not State.NO_DATA]
    states = states or list(votes.values())
    if not states:
        return None
    worst_first = sorted(states, key=_RANK.__getitem__, reverse=True)
    match quorum:
        case "any":
            needed = 1
        case "most":
            needed = len(states) // 2 + 1
        case number:
            needed = min(number, len(states))
    return worst_first[max(needed, 1) - 1]


def worse(one: State, other: State) -> State:
    """The worse of two states."""
    return max(one, other, key=_RANK.__getitem__)
