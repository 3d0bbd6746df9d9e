"""Marks: the instants of one probe, all on the monotonic clock, in nanoseconds."""

from dataclasses import dataclass, field
from typing import NamedTuple

from probes.events import Kind
from probes.sockets.connection_timing import SEND_NS, ConnectionTiming, Stamp
from probes.sockets.receive_timestamps import CLOCK_ERROR_NS


class ContentEvent(NamedTuple):
    """One event with non-empty output. ``tokens`` is the running output count it carried, where it carried one.

    The characters of a ``draft`` are those of the whole answer so far. ``uncertainty_ns`` is by how much it may have
    come before ``at``, None where that is not known. ``raw`` tells of reasoning whether it is what the model generated.
    """

    at: int
    kind: Kind
    chars: int
    tokens: int | None = None
    draft: bool = False
    uncertainty_ns: int | None = None
    raw: bool | None = None


@dataclass(slots=True)
class Timeline:
    """What happened when, filled in as a probe advances; None where it has not happened (design §2).

    ``sent`` is when the last byte of the request was accepted by the socket of an open connection; ``headers`` is
    the read that completed the response's head; ``first_event`` the read that completed the first event of any
    kind but keep-alives; ``end`` the terminal marker. ``setup`` is None where a kept connection was reused;
    ``round_trip`` (ns) is the network's, of the connection used. ``reopened``: the request was sent once more, on a
    fresh connection, and what is marked is what came of that.
    ``kernel``: whether every read was stamped by the kernel. Uncertainties: see `Stamp`.
    """

    due: int
    started: int
    setup: ConnectionTiming | None = None
    round_trip: int | None = None
    sent: int | None = None
    headers: int | None = None
    first_event: int | None = None
    end: int | None = None
    sent_uncertainty_ns: int | None = None
    kernel: bool | None = None
    contents: list[ContentEvent] = field(default_factory=list)
    reopened: bool = False

    def answered(self, at: int) -> bool:
        """Take note that the answer began ``at`` (monotonic ns): `sent` was no later.

        False where that was before the request was written, as only a wrong server answers.
        """
        if self.sent is None:
            return True
        began = self.sent - min(self.sent_uncertainty_ns or 0, SEND_NS)  # see `Stream.write`
        if at < began - CLOCK_ERROR_NS:
            return False
        self.sent = min(self.sent, at)
        return True

    def begin_again(self) -> None:
        """What was sent was not heard, or not taken: it is sent once more, on another connection."""
        self.reopened = True
        self.sent = self.sent_uncertainty_ns = self.kernel = self.headers = self.first_event = None

    def read(self, stamp: Stamp) -> None:
        """Note whose stamp a read of the response carried."""
        self.kernel = stamp.kernel and self.kernel is not False
