"""Tries: at what only a machine that is left alone can show."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from probes.surroundings import steal_ms

LEFT_ALONE_MS = 50.0
GROUPS = Path("/sys/fs/cgroup")


def tries(most: int) -> Iterator[int]:
    """So many tries. Where all were in vain, and somebody held this machine up meanwhile, the test is skipped."""
    stolen, halts = steal_ms() or 0.0, throttled()
    yield from range(most)
    if (taken := (steal_ms() or 0.0) - stolen) > LEFT_ALONE_MS:
        pytest.skip(f"the hypervisor took {taken:g} ms of the processors meanwhile")
    if (halted := throttled() - halts) > 0:
        pytest.skip(f"this container was halted {halted} times meanwhile: it had used up its share of the processors")


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
