"""Absences: when this process did not run, because it was stopped or its machine slept, told from its own clocks."""

import time
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from probes.clock import asleep_ns
from probes.sockets.linux import RunQueue

LEAST_NS: Final = 250_000_000
"""A shorter absence is not told from the scheduler's ordinary lateness."""

VOIDING_NS: Final = 1_000_000_000
"""A deadline is void only if at least this much was missed of it."""

STOPPED_SHARE: Final = 0.9
"""A late heartbeat comes of a stop where this process neither ran nor waited for a processor for at least this share of
the time since the last one. Below it the engine was overloaded, which excuses nothing."""

KEPT: Final = 256
"""Absences that are remembered, the newest."""


class Absence(NamedTuple):
    """A time in which this process did not run.

    ``since`` is the last heartbeat before it, ``until`` the first after it (monotonic ns), ``lasted`` its length (ns).
    If the machine ``slept``, it lasted longer than from one to the other: the monotonic clock stood meanwhile.
    """

    since: int
    until: int
    lasted: int
    slept: bool = False


class Absences:
    """Finds absences between the calls of `beat`, which the thread that made this object makes often.

    SIGSTOP, a debugger and a frozen container stop the process: the monotonic clock goes on, and neither its CPU clock
    nor its time on the run queue does. A machine that sleeps stops the monotonic clock: another clock counts on
    (`asleep_ns`). A thread that waits for a disk looks the same as a stopped one, and is as absent.
    """

    def __init__(self) -> None:
        self._noted: deque[Absence] = deque(maxlen=KEPT)
        self._run_queue = RunQueue()
        self._asleep_ns = asleep_ns()
        self._cpu_ns, self._waited_ns = self._busy()
        self._at = time.monotonic_ns()

    def beat(self) -> None:
        """Say that the thread runs now; an absence that has just ended is noted."""
        before, cpu, waited, asleep = self._at, self._cpu_ns, self._waited_ns, self._asleep_ns
        self._cpu_ns, self._waited_ns = self._busy()
        self._asleep_ns = asleep_ns()
        self._at = now = time.monotonic_ns()
        passed = now - before
        stood = passed - (self._cpu_ns - cpu) - (self._waited_ns - waited)
        slept = 0 if asleep is None or self._asleep_ns is None else self._asleep_ns - asleep
        if slept >= LEAST_NS:
            self._noted.append(Absence(before, now, slept + passed, slept=True))
        elif stood >= max(LEAST_NS, STOPPED_SHARE * passed):
            self._noted.append(Absence(before, now, stood))

    def since(self, instant: int) -> tuple[Absence, ...]:
        """The absences that ended after an instant (monotonic ns), oldest first."""
        return tuple(one for one in self._noted if one.until > instant)

    def close(self) -> None:
        """Note no more."""
        self._run_queue.close()

    def _busy(self) -> tuple[int, int]:
        """What this process has run and its thread waited for a processor; ns."""
        return time.process_time_ns(), self._run_queue.waited_ns()


def excuses(absences: Sequence[Absence], deadline: int) -> bool:
    """Whether absences, oldest first, make a deadline (monotonic ns) void.

    They do if, counted from the beginning of any one of them, at least `VOIDING_NS` was missed in all, and at least
    what was left until the deadline at that beginning.
    """
    missed = 0
    for one in reversed(absences):
        missed += one.lasted
        if one.since < deadline and missed >= max(VOIDING_NS, deadline - one.since):
            return True
    return False


def words(absences: Sequence[Absence]) -> str:
    """What happened, for a person: ``inftop was stopped for 20.1 s``."""
    lasted = sum(one.lasted for one in absences) / 1e9
    who = "this machine slept" if any(one.slept for one in absences) else "inftop was stopped"
    return f"{who} for {lasted:,.1f} s"
