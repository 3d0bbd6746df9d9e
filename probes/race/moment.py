"""Moment: one piece of output of one lane, and when it came."""

from typing import NamedTuple

from probes.wire.dialect import Kind


class Moment(NamedTuple):
    """One event with output. ``at`` is in nanoseconds since the gun, on the engine's monotonic clock.

    ``text`` is plain (`probes.text.plain`); ``tokens`` is the running output count that the event carried, where it
    carried one. The text of a ``draft`` is the whole answer so far, in place of all answer text before it.
    """

    at: int
    kind: Kind
    text: str
    tokens: int | None = None
    draft: bool = False
