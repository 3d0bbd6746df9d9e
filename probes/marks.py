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
class Setup:
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


class Content(NamedTuple):
    """One event with non-empty output. ``tokens`` is the running output count it carried, where it carried one.

    The characters of a ``draft`` are those of the whole answer so far. ``doubt`` is that of its stamp. ``raw`` is the
    output's: whether reasoning is what the model generated.
    """

    at: int
    kind: Kind
    chars: int
    tokens: int | None = None
    draft: bool = False
    doubt: int | None = None
    raw: bool | None = None


@dataclass(slots=True)
class Marks:
    """What happened when, filled in as a probe advances; None where it has not happened (design §2).

    ``sent`` is when the last byte of the request was accepted by the socket of an open connection; ``headers`` is
    the read that completed the response's head; ``first_event`` the read that completed the first event of any
    kind but keep-alives; ``end`` the terminal marker. ``setup`` is None where a kept connection was reused;
    ``round_trip`` (ns) is the network's, of the connection used. ``reopened``: the request was sent once more, on a
    fresh connection, and what is marked is what came of that.
    ``kernel``: whether every read was stamped by the kernel. Doubts: see `Stamp`.
    """

    due: int
    started: int
    setup: Setup | None = None
    round_trip: int | None = None
    sent: int | None = None
    headers: int | None = None
    first_event: int | None = None
    end: int | None = None
    sent_doubt: int | None = None
    kernel: bool | None = None
    contents: list[Content] = field(default_factory=list)
    reopened: bool = False

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

    def begin_again(self) -> None:
        """What was sent was not heard, or not taken: it is sent once more, on another connection."""
        self.reopened = True
        self.sent = self.sent_doubt = self.kernel = self.headers = self.first_event = None

    def read(self, stamp: Stamp) -> None:
        """Note whose stamp a read of the response carried."""
        self.kernel = stamp.kernel and self.kernel is not False
