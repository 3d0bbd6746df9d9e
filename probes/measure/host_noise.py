"""What else happened in this process and on this machine while a probe ran; it is stored with the sample."""

import asyncio
import contextlib
import gc
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from probes.clock import until_tick
from probes.figures.timeline import Theft
from probes.measure.cpu_steal import StealMeter
from probes.measure.own_fault import Absence, AbsenceDetector
from probes.sockets.receive_timestamps import STEP_NS, wall_minus_monotonic

BEAT_S: Final = 0.02
"""Seconds from one heartbeat of the loop to the next, at most, while a probe runs."""

IDLE_BEAT_S: Final = 0.1
"""The same while none does: little enough for a process that slept for want of work not to pass for a stopped one
(`probes.measure.own_fault.SHORTEST_NS`)."""

REMEMBERED_S: Final = 120.0
"""Seconds for which the lateness of heartbeats is remembered."""

PAUSES_KEPT: Final = 4_096
SHORTEST_PAUSE_NS: Final = 50_000
"""A shorter garbage collection distorts nothing that anybody would see."""


class LoopLag:
    """A heartbeat on the running loop that remembers how late each beat came.

    It is quick within `quick`, else slow. ``on_beat`` is called at every beat; ``clock`` is the monotonic clock, ns.
    """

    def __init__(self, on_beat: Callable[[], None], clock: Callable[[], int]) -> None:
        self._on_beat, self._clock = on_beat, clock
        self._late: deque[tuple[int, float]] = deque(maxlen=round(REMEMBERED_S / BEAT_S))
        self._due_ns = 0
        self._hurried = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin the heartbeat on the running loop."""
        now = self._clock()
        wait_s = until_tick(now / 1e9, BEAT_S if self._hurried else IDLE_BEAT_S)
        self._due_ns = now + round(wait_s * 1e9)
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._beat)

    @contextlib.contextmanager
    def quick(self) -> Iterator[None]:
        """Within this context a beat is due every `BEAT_S`, from the first tick on."""
        self._hurried += 1
        if self._hurried == 1 and self._timer is not None:
            self._timer.cancel()
            self._beat()
        try:
            yield
        finally:
            self._hurried -= 1

    def stop(self) -> None:
        """End the heartbeat."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def since(self, instant: int) -> float | None:
        """The worst lateness, ms, of the beats since an instant (monotonic ns), the one now due included.

        None while there is no heartbeat.
        """
        if self._timer is None:
            return None
        worst = max(0.0, (self._clock() - self._due_ns) / 1e6)
        for at, late in reversed(self._late):
            if at < instant:
                break
            worst = max(worst, late)
        return round(worst, 3)

    def _beat(self) -> None:
        now = self._clock()
        self._late.append((now, (now - self._due_ns) / 1e6))
        self._on_beat()
        self.start()


@dataclass(frozen=True, slots=True)
class HostNoise:
    """What may have distorted a sample's times, ms; None is not known, or not known on this system.

    The worst lateness of the engine's loop, the longest pause of its garbage collector, how far the wall clock was
    set (signed), and what the hypervisor took from all CPUs together.
    """

    loop_lag_ms: float | None = None
    gc_pause_ms: float | None = None
    clock_step_ms: float | None = None
    cpu_steal_ms: float | None = None


@dataclass(frozen=True, slots=True)
class HostSnapshot:
    """What the clocks and counters said when a probe began; ``at_ns`` is on the monotonic clock."""

    at_ns: int
    wall_offset_ns: int
    steal_ms: float | None


class HostNoiseMonitor:
    """Watches the running loop and the garbage collector between `start` and `stop`; else less is known.

    ``clock`` is the monotonic clock, ns.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._lag = LoopLag(self._beat, clock)
        self._steal = StealMeter(clock)
        self._absences: AbsenceDetector | None = None
        self._pauses: deque[tuple[int, int]] = deque(maxlen=PAUSES_KEPT)
        self._pausing_since = 0

    def start(self) -> None:
        """Begin to watch, on the running loop."""
        self._absences = AbsenceDetector()
        self._lag.start()
        gc.callbacks.append(self._collecting)

    def stop(self) -> None:
        """Watch no more."""
        self._lag.stop()
        if self._absences is not None:
            self._absences.close()
            self._absences = None
        gc.callbacks.remove(self._collecting)

    def during_probe(self) -> contextlib.AbstractContextManager[None]:
        """Within this context the loop is watched as closely as a probe needs it."""
        return self._lag.quick()

    def snapshot(self) -> HostSnapshot:
        """The state a probe begins in. It takes some tens of microseconds to read, so before the probe's clock runs."""
        return HostSnapshot(self._clock(), wall_minus_monotonic(), self._steal.read_ms())

    def lag_ms(self, since_ns: int) -> float | None:
        """The worst lateness of the loop since an instant (monotonic ns), in ms; None while it is not watched."""
        return self._lag.since(since_ns)

    def absences(self, since_ns: int) -> tuple[Absence, ...]:
        """When this process did not run since an instant (monotonic ns), or its machine slept; oldest first."""
        self._beat()  # what has just ended may not have met a heartbeat yet
        return self._absences.since(since_ns) if self._absences is not None else ()

    def thefts(self, since_ns: int) -> tuple[Theft, ...]:
        """What the hypervisor took since an instant (monotonic ns), and when about: to a heartbeat, while watched."""
        self._steal.read_ms()
        return self._steal.since(since_ns)

    def since(self, snapshot: HostSnapshot) -> HostNoise:
        """What has happened since a snapshot was taken."""
        now = self.snapshot()
        step = now.wall_offset_ns - snapshot.wall_offset_ns
        pauses = list(self._pauses)  # a collection in the store's thread adds to it while it is gone through
        longest = max((ns for end, ns in pauses if end >= snapshot.at_ns), default=0)
        stolen = None if now.steal_ms is None or snapshot.steal_ms is None else now.steal_ms - snapshot.steal_ms
        return HostNoise(
            loop_lag_ms=self._lag.since(snapshot.at_ns),
            gc_pause_ms=None if self._absences is None else round(longest / 1e6, 3),
            clock_step_ms=round(step / 1e6, 3) if abs(step) > STEP_NS else 0.0,
            cpu_steal_ms=None if stolen is None else max(0.0, stolen),
        )

    def _beat(self) -> None:
        if self._absences is not None:
            self._absences.beat()
        if self._steal.has_seen_any:
            self._steal.read_ms()

    def _collecting(self, phase: str, _: dict[str, Any]) -> None:
        now = self._clock()
        if phase == "start":
            self._pausing_since = now
        elif (lasted := now - self._pausing_since) >= SHORTEST_PAUSE_NS:
            self._pauses.append((now, lasted))
