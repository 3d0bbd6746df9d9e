"""Whether an endpoint was sampled each time it was due, whenever the machine let that be."""

from collections.abc import Sequence

from probes.engine.schedule import Cadence

ROUNDING_S = 0.001
"""Due times and starts are in whole milliseconds."""


def due_times(cadence: Cadence, starts: Sequence[float]) -> list[float]:
    """The due times of a cadence between an endpoint's samples, by their sorted starts (seconds since the epoch).

    The first sample is off the grid, which it is on after half an interval; what was due when the last but one had
    started was seen to.
    """
    found = [cadence.next_after(starts[0] + cadence.interval / 2)]
    while found[-1] <= starts[-2]:
        found.append(cadence.next_after(found[-1]))
    return found[:-1]


def lost_due_times(due: Sequence[float], starts: Sequence[float]) -> list[float]:
    """The due times that no sample is for. Each needs one of its own, that starts then or later.

    On a machine that stood still a probe comes late, and the due times that passed meanwhile are samples of their own.
    """
    following = iter(starts)
    return [one for one in due if next((at for at in following if at >= one - ROUNDING_S), None) is None]
