"""The one timer of a probe: which limit it stands for, when it is moved, and what it says; in virtual time."""

import asyncio

import pytest

from probes.endpoint import Timeouts
from probes.measure.deadline import END_S, Deadline
from tests.virtual_time import VirtualLoop, run

LIMITS = Timeouts(connect=5, first_token=30, stall=10, total=60)


def ended(*steps):
    """When (s) and with which words the timer ended a probe that entered phases: (wait before, phase)."""
    loop = VirtualLoop()

    made = []

    async def main():
        made.append(deadline := Deadline(LIMITS))
        async with deadline:
            for wait, phase in steps:
                await asyncio.sleep(wait)
                deadline.enter(phase)
            await asyncio.sleep(1_000)

    with pytest.raises(TimeoutError):
        run(loop, main())
    [deadline] = made
    began, ends = deadline.phase_bounds
    return round(loop.time(), 3), deadline.phase, deadline.words, (began / 1e9, ends / 1e9)


@pytest.mark.parametrize(
    ("steps", "at", "words", "bounds"),
    [
        ([], 60, "total: over 60 s", (0, 60)),
        ([(0, "connect")], 5, "connect: nothing within 5 s", (0, 5)),
        ([(1, "connect"), (2, "first token")], 33, "first token: nothing within 30 s", (3, 33)),
        ([(1, "first token"), (2, "stall")], 13, "stall: nothing within 10 s", (3, 13)),
        ([(1, "stall"), (9, "stall"), (9, "stall")], 29, "stall: nothing within 10 s", (19, 29)),
        ([(1, "stall"), (0.09, "stall")], 11, "stall: nothing within 10 s", (1, 11)),  # too little to move it for
        ([(1, "stall"), (0.1, "stall")], 11.1, "stall: nothing within 10 s", (1.1, 11.1)),
        ([(1, "stall"), (2, "end")], 3 + END_S, "end: nothing within 2 s", (3, 3 + END_S)),
        ([(1, "first token"), (0.001, "stall")], 11.001, "stall: nothing within 10 s", (1.001, 11.001)),
        ([(51, "stall")], 60, "total: over 60 s", (0, 60)),
        ([(50, "stall")], 60, "total: over 60 s", (0, 60)),  # both at once
        ([(49, "stall")], 59, "stall: nothing within 10 s", (49, 59)),
    ],
)
def test_the_first_limit_that_passes_ends_the_probe_and_is_named(steps, at, words, bounds):
    when, phase, said, (began, ends) = ended(*steps)
    assert (when, said) == (at, words)
    assert words.startswith(phase)
    assert (round(began, 3), round(ends, 3)) == bounds


def test_a_timer_that_is_released_rings_no_more_and_tells_what_is_left():
    async def main():
        async with Deadline(LIMITS) as deadline:
            await asyncio.sleep(20)
            left = deadline.release()
            await asyncio.sleep(100)
            return left, deadline.release()

    assert run(VirtualLoop(), main()) == (40, 0)
