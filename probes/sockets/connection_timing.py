"""When things happened on a connection: the stamp of every read, and the steps in which it was opened."""

from dataclasses import dataclass
from typing import Final, NamedTuple

SEND_NS: Final = 50_000
"""What a system call that sends takes at most. One that took longer was interrupted, as a rule by whoever was woken
by what it had sent; a stamp after that would be late."""


class Stamp(NamedTuple):
    """When a read's data reached this machine (monotonic ns), and how much earlier it may have: None is not known.

    ``end_doubt`` is that of what the read ended with, ``doubt`` of all before it. ``kernel``: the kernel said so.
    """

    at: int
    doubt: int | None = None
    end_doubt: int | None = None
    kernel: bool = False


class Step(NamedTuple):
    """One step of a connection's set-up, from ``start`` to ``stop`` (monotonic ns).

    ``doubt`` is by how much (ns) its length can be wrong by our own doing; None is not known.
    """

    start: int
    stop: int
    doubt: int | None = None


def exchanged(sent: Stamp, came: Stamp, late: int = 0) -> Step:
    """The step that sending something began and the arrival of the other side's last word ended.

    The read that brought it ended with it. ``late`` is how long (ns) this side took to answer in between.
    """
    doubt = None if came.end_doubt is None else came.end_doubt + (sent.doubt or 0) + late
    return Step(min(sent.at, came.at), came.at, doubt)


@dataclass(frozen=True, slots=True)
class ConnectionTiming:
    """How one connection was opened, step by step; a step that was not taken is None.

    ``dns`` is None for an address literal, ``proxy`` without one, ``tls`` without TLS, ``upgrade`` for all but
    WebSockets. ``address`` is that of the other end. Through a proxy, ``dns`` and ``connect`` are the proxy's.
    """

    connect: Step
    dns: Step | None = None
    proxy: Step | None = None
    tls: Step | None = None
    upgrade: Step | None = None
    address: str = ""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that were taken, in order."""
        return tuple(one for one in (self.dns, self.connect, self.proxy, self.tls, self.upgrade) if one is not None)
