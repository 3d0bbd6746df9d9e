"""OwnFault: what went wrong in this process or on this machine, and not at the endpoint or on the way to it; words."""

import errno
import os
import socket
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from probes.absences import VOIDING_NS, Absence, excuses, words
from probes.outcome import Outcome
from probes.wire.dialect import Trouble

_LACKING: Final = {
    errno.EMFILE: "out of file descriptors",
    errno.ENFILE: "this machine is out of file descriptors",
    errno.ENOMEM: "out of memory",
    errno.ENOBUFS: "this machine is out of network buffers",
    errno.EADDRNOTAVAIL: "no local address or port is left",
}
"""What errno says that this machine lacks (errno(3), connect(2), socket(2))."""

_RESOLVER_DESCRIPTORS: Final = 4
"""Descriptors that the resolver may need at once: a file, a socket for each family, one to ask for addresses."""

_LEFT_ALONE: Final = frozenset({Outcome.DNS, Outcome.CONNECT, Outcome.TLS, Outcome.CUT, Outcome.STREAM_ERROR})
"""How a probe ends where the server or the network gives up because nobody here answers."""


def lacking(error: BaseException | None) -> str | None:
    """What this process or machine lacked; None where the error may be the endpoint's or the network's."""
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, socket.gaierror):  # its numbers are not those of errno
        if error.errno == socket.EAI_MEMORY:
            return "out of memory"
        return "out of file descriptors" if _lacks_descriptors() else None
    return _LACKING.get(error.errno or 0) if isinstance(error, OSError) else None


def defect(error: BaseException) -> str:
    """In words: what a probe that met an exception of ours ended by."""
    return lacking(error) or f"inftop failed: {type(error).__name__}"


def blamed(trouble: Trouble, absences: Sequence[Absence], deadline: tuple[int, int], patience_s: float) -> Trouble:
    """The trouble, or `own_fault` in its place where the ``absences`` within the probe caused it.

    A time-out is our own fault where they void the ``deadline``: when its phase began, and when it was to end
    (monotonic ns); see `probes.absences.excuses`. What the other side gave up is our own fault where we were absent for
    ``patience_s``, and for a second at least: how long a server waits is not known, so it is taken to wait as long as
    we would.
    """
    began, ends = deadline
    if trouble.outcome is Outcome.TIMEOUT:
        ours = excuses([one for one in absences if one.until > began], ends)
    else:
        missed = sum(one.lasted for one in absences)
        ours = trouble.outcome in _LEFT_ALONE and missed >= max(patience_s * 1e9, VOIDING_NS)
    if not ours:
        return trouble
    detail = f"{words(absences)} during the probe ({trouble.outcome.value.replace('_', ' ')}: {trouble.detail})"
    return replace(trouble, outcome=Outcome.OWN_FAULT, detail=detail)


def _lacks_descriptors() -> bool:
    """Whether a resolver that has just failed lacked descriptors: it does not say so itself (getaddrinfo(3))."""
    held: list[int] = []
    try:
        for _ in range(_RESOLVER_DESCRIPTORS):
            held.append(os.open(os.devnull, os.O_RDONLY))  # noqa: PERF401  # what is held must be known where one fails
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    else:
        return False
    finally:
        for one in held:
            os.close(one)
