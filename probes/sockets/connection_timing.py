"""When things happened on a connection: the timestamp of every read, and the steps in which it was opened."""

from dataclasses import dataclass
from typing import Final, NamedTuple

SEND_NS: Final = 50_000
"""What a system call that sends takes at most. One that took longer was interrupted, as a rule by the receiver that
it woke; a timestamp taken after it would be late."""


class Stamp(NamedTuple):
    """When the data of one read reached this machine: monotonic ns, with its uncertainty.

    The last byte arrived within ``[at - end_uncertainty_ns, at]``, every other byte within ``[at - uncertainty_ns,
    at]``. None: how much earlier is not known. ``kernel``: ``at`` is the kernel's own timestamp.
    """

    at: int
    uncertainty_ns: int | None = None
    end_uncertainty_ns: int | None = None
    kernel: bool = False

    def with_uncertain_end(self) -> "Stamp":
        """The stamp for data with more behind it in the same read: its end is as uncertain as its beginning."""
        return self._replace(end_uncertainty_ns=self.uncertainty_ns)


class Step(NamedTuple):
    """One step of a connection's set-up, from ``start`` to ``stop`` (monotonic ns).

    ``uncertainty_ns`` is how much its length can be wrong through this process's own delays; None is not known.
    """

    start: int
    stop: int
    uncertainty_ns: int | None = None


def exchanged(sent: Stamp, came: Stamp, late: int = 0) -> Step:
    """The step from sending the first message of an exchange to the arrival of the other side's last one.

    That last message must be the end of the read that ``came`` belongs to. ``late`` is how long (ns) this side took to
    answer in between.
    """
    uncertainty_ns = (
        None if came.end_uncertainty_ns is None else came.end_uncertainty_ns + (sent.uncertainty_ns or 0) + late
    )
    return Step(min(sent.at, came.at), came.at, uncertainty_ns)


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
