"""Tries: at what only a machine that is left alone can show."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from probes.measure.host_noise import steal_ms

GROUPS = Path("/sys/fs/cgroup")


def tries(most: int) -> Iterator[int]:
    """So many tries. The test is skipped where somebody held this machine up in every one of them, and fails else.

    One try that nobody held up and that was in vain all the same is a failure.
    """
    stolen_ms, halts, alone = 0.0, 0, False
    for number in range(most):
        stolen_before, halts_before = steal_ms() or 0.0, throttled()
        yield number
        taken_ms, halted = (steal_ms() or 0.0) - stolen_before, throttled() - halts_before
        alone = alone or not (taken_ms or halted)
        stolen_ms, halts = stolen_ms + taken_ms, halts + halted
    if not alone:
        pytest.skip(
            f"held up in each of {most} tries: {stolen_ms:g} ms stolen by the hypervisor, {halts} halts by a quota"
        )


def throttled() -> int:
    """How often a quota has halted the group of processes this one is in; 0 where nobody says."""
    said = 0
    for line in _lines(Path("/proc/self/cgroup")):
        _, controllers, group = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            folder = GROUPS / controllers / group.lstrip("/")
            counts = dict(one.split() for one in _lines(folder / "cpu.stat"))
            said += int(counts.get("nr_throttled", 0))
    return said


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
