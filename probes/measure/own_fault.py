"""OwnFault: what went wrong in this process or on this machine, and not at the endpoint or on the way to it; words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from probes.events import Failure
from probes.measure.absences import VOIDING_NS, Absence, excuses, words
from probes.outcome import Outcome
from probes.sockets.errors import missing_resource

_LEFT_ALONE: Final = frozenset({Outcome.DNS, Outcome.CONNECT, Outcome.TLS, Outcome.CUT, Outcome.STREAM_ERROR})
"""How a probe ends where the server or the network gives up because nobody here answers."""


def describe_defect(error: BaseException) -> str:
    """In words: what a probe that met an exception of ours ended by."""
    return missing_resource(error) or f"inftop failed: {type(error).__name__}"


def attribute_to_absences(
    failure: Failure, absences: Sequence[Absence], deadline: tuple[int, int], patience_s: float
) -> Failure:
    """The trouble, or `own_fault` in its place where the ``absences`` within the probe caused it.

    A time-out is our own fault where they void the ``deadline``: when its phase began, and when it was to end
    (monotonic ns); see `absences.excuses`. What the other side gave up is our own fault where we were absent for
    ``patience_s``, and for a second at least: how long a server waits is not known, so it is taken to wait as long as
    we would.
    """
    began, ends = deadline
    if failure.outcome is Outcome.TIMEOUT:
        ours = excuses([one for one in absences if one.until > began], ends)
    else:
        missed = sum(one.lasted for one in absences)
        ours = failure.outcome in _LEFT_ALONE and missed >= max(patience_s * 1e9, VOIDING_NS)
    if not ours:
        return failure
    detail = f"{words(absences)} during the probe ({failure.outcome.value.replace('_', ' ')}: {failure.detail})"
    return replace(failure, outcome=Outcome.OWN_FAULT, detail=detail)
