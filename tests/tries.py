"""Tries: at what only a machine that is left alone can show."""

from collections.abc import Iterator

import pytest

from probes.surroundings import steal_ms

LEFT_ALONE_MS = 50.0


def tries(most: int) -> Iterator[int]:
    """So many tries. Where all were in vain, and the hypervisor took processors away meanwhile, the test is skipped."""
    stolen = steal_ms() or 0.0
    yield from range(most)
    if (taken := (steal_ms() or 0.0) - stolen) > LEFT_ALONE_MS:
        pytest.skip(f"the hypervisor took {taken:g} ms of the processors meanwhile")
