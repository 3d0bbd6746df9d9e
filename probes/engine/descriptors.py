"""File descriptors: raises how many this process may have open, and says where endpoints may need more."""

import sys
from collections.abc import Sequence
from typing import Final

from probes.endpoint import Endpoint
from probes.format import plural

ENGINE_NEEDS: Final = 96
"""What the engine needs beside its endpoints, with room to spare: loop, ring, store and journal, feed, metrics."""

CONNECTING_NEEDS: Final = 3
"""What an endpoint needs while it connects: a second address that is tried, and what resolves its name."""

MACOS_LIMIT: Final = 10_240
"""Tried where the hard limit is infinite and is refused: macOS allows no more (OPEN_MAX, setrlimit(2))."""


def needed(endpoints: Sequence[Endpoint]) -> int:
    """How many descriptors an engine on these endpoints may come to need at one time."""
    return ENGINE_NEEDS + sum((2 if endpoint.connection == "both" else 1) + CONNECTING_NEEDS for endpoint in endpoints)


def raise_limit() -> int | None:
    """Raise this process's soft limit of descriptors to the hard one; the limit then, None where there is none."""
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in (hard, MACOS_LIMIT):
        if soft == resource.RLIM_INFINITY or 0 <= wanted <= soft:
            break
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            continue
        soft = wanted
        break
    return None if soft == resource.RLIM_INFINITY else soft


def shortage(endpoints: Sequence[Endpoint], limit: int | None) -> str | None:
    """Why a limit may be too low for these endpoints, and what to do about it; None where it is high enough."""
    if limit is None or needed(endpoints) <= limit:
        return None
    return (
        f"{plural(len(endpoints), 'endpoint')} may need {needed(endpoints)} file descriptors "
        f"and this process may have {limit}: "
        "probes that find none free end in own_fault; raise the hard limit (ulimit -Hn, LimitNOFILE=)"
    )
