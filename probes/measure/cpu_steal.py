"""What the hypervisor takes of this machine's processors, read often enough to say around when it did."""

import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from probes.figures.timeline import Theft

STEP_NS: Final = 10_000_000
"""The counters' step: hundredths of a second, whatever the kernel's tick is. Nobody sees what is less."""

FRESH_NS: Final = 1_000_000
"""Counters that were read so lately are not read again: it costs 20 us, more on a machine of many processors."""

REMEMBERED: Final = 4_096
"""How many of the newest thefts are remembered: over a minute's, if every reading found one."""

_STAT: Final = Path("/proc/stat")
_SIZE: Final = 128 * (1 + (os.cpu_count() or 1))
"""Bytes that hold the lines of all processors, of ten numbers each."""

_STEAL_FIELD: Final = 8
"""Of a line ``cpu  user nice system idle iowait irq softirq steal …`` (proc_stat(5)). The first line is the sum of all
processors, the next ones are each one's."""


class StealMeter:
    """Reads the counters of stolen processor time, and remembers thefts: between which readings the counters moved.

    ``clock`` is the monotonic clock, ns.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._thefts: deque[Theft] = deque(maxlen=REMEMBERED)
        self._counters: tuple[int, ...] = ()
        self._read_ns = 0

    @property
    def has_seen_any(self) -> bool:
        """Whether anything was ever taken from this machine; of most nothing is, and they need not be asked often."""
        return any(self._counters)

    def read_ms(self) -> float | None:
        """What was taken from all processors since this machine started, ms; None where the system does not say."""
        asked = self._clock()
        if not self._counters or asked - self._read_ns >= FRESH_NS:
            before, self._counters = self._counters, _counters()
            found = theft_between(before, self._counters, self._read_ns, self._clock())
            self._read_ns = asked
            if found is not None:
                self._thefts.append(found)
        return self._counters[0] * STEP_NS / 1e6 if self._counters else None

    def since(self, instant: int) -> tuple[Theft, ...]:
        """The thefts that may have held up what has a stamp after an instant (monotonic ns), oldest first."""
        return tuple(theft for theft in self._thefts if theft.until > instant)


def theft_between(before: tuple[int, ...], after: tuple[int, ...], began: int, ended: int) -> Theft | None:
    """The theft that two readings of the counters show (their sum, then each processor's); None where none moved.

    They were read at ``began`` and ``ended`` (monotonic ns). Each is rounded down, so up to a step more was taken than
    the sum grew by: it need not have moved where a processor's own counter has. A theft is counted when the processor
    is back, and what it held up may have a stamp from any time of it, so from before the first of the two readings.
    """
    if not before or not any(new > old for old, new in zip(before, after, strict=False)):
        return None
    taken = (max(0, after[0] - before[0]) + 1) * STEP_NS
    return Theft(began - taken, ended, taken)


def steal_ms() -> float | None:
    """What the hypervisor has taken from this machine's CPUs since it started, ms; None where nobody says."""
    return StealMeter().read_ms()


def _counters() -> tuple[int, ...]:
    """The steal of all processors together and of each one, in hundredths of a second; () where nobody says."""
    try:
        with _STAT.open("rb", buffering=0) as stat:
            lines = stat.read(_SIZE).split(b"\n")
        return tuple(int(line.split()[_STEAL_FIELD]) for line in lines if line.startswith(b"cpu"))
    except (OSError, IndexError, ValueError):
        return ()
