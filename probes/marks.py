"""Marks: the instants of one probe, all on the monotonic clock, in nanoseconds."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from probes.receive_clock import CLOSE_NS
from probes.wire.dialect import Kind

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


@dataclass(frozen=True, slots=True)
class Setup:
    """How one connection was opened.

    ``resolved`` is None for an address literal, ``secured`` without TLS, ``upgraded`` for all but WebSockets.
    """

    started: int
    connected: int
    resolved: int | None = None
    secured: int | None = None
    upgraded: int | None = None
    address: str = ""


class Content(NamedTuple):
    """One event with non-empty output. ``tokens`` is the running output count it carried, where it carried one.

    The characters of a ``draft`` are those of the whole answer so far. ``doubt`` is that of its stamp.
    """

    at: int
    kind: Kind
    chars: int
    tokens: int | None = None
    draft: bool = False
    doubt: int | None = None


@dataclass(slots=True)
class Marks:
    """What happened when, filled in as a probe advances; None where it has not happened (design §2).

    ``sent`` is when the last byte of the request was accepted by the socket of an open connection; ``headers`` is
    the read that completed the response's head; ``first_event`` the read that completed the first event of any
    kind but keep-alives; ``end`` the terminal marker. ``setup`` is None where a kept connection was reused; ``link`` is
    how the connection used was opened, by whichever probe.
    ``kernel``: whether every read was stamped by the kernel. Doubts: see `Stamp`.
    """

    due: int
    started: int
    setup: Setup | None = None
    link: Setup | None = None
    sent: int | None = None
    headers: int | None = None
    first_event: int | None = None
    end: int | None = None
    sent_doubt: int | None = None
    kernel: bool | None = None
    contents: list[Content] = field(default_factory=list)

    def answered(self, at: int) -> bool:
        """Take note that the answer began ``at`` (monotonic ns): `sent` was no later.

        False where that was before the request was written, as only a wrong server answers.
        """
        if self.sent is None:
            return True
        began = self.sent - min(self.sent_doubt or 0, SEND_NS)  # see `Stream.write`
        if at < began - CLOSE_NS:
            return False
        self.sent = min(self.sent, at)
        return True

    def read(self, stamp: Stamp) -> None:
        """Note whose stamp a read of the response carried."""
        self.kernel = stamp.kernel and self.kernel is not False
