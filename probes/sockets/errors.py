"""Errors of an open connection: which outcome each is, and what went wrong in one plain line."""

import errno
import os
import socket
import ssl
from typing import Final

from probes.outcome import Outcome
from probes.sockets.read_budget import ReadBudgetSpent
from probes.text import line
from probes.tls.errors import describe_tls_error, wants_client_certificate


class ExchangeError(Exception):
    """An exchange that failed on an open connection.

    ``outcome`` is cut, protocol, tls or own_fault, or the meaning of what the other side said as it closed;
    ``retry_after_s`` where it said that, too.
    """

    def __init__(self, outcome: Outcome, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail
        self.retry_after_s = retry_after_s


_RESOURCES: Final = {
    errno.EMFILE: "out of file descriptors",
    errno.ENFILE: "this machine is out of file descriptors",
    errno.ENOMEM: "out of memory",
    errno.ENOBUFS: "this machine is out of network buffers",
    errno.EADDRNOTAVAIL: "no local address or port is left",
}
"""Errors that say what this machine lacks (errno(3), connect(2), socket(2))."""


_RESOLVER_DESCRIPTORS: Final = 4
"""Descriptors that a resolver may need at once: a file, a socket for each family, one to ask for addresses."""


def missing_resource(error: BaseException | None) -> str | None:
    """The resource that this process or machine lacked; None where the error may be the endpoint's or the network's."""
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, socket.gaierror):  # its numbers are not those of errno
        if error.errno == socket.EAI_MEMORY:
            return "out of memory"
        return "out of file descriptors" if _out_of_descriptors() else None
    return _RESOURCES.get(error.errno or 0) if isinstance(error, OSError) else None


def _out_of_descriptors() -> bool:
    """Whether a resolver that has just failed had no descriptors: it does not say so itself (getaddrinfo(3))."""
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


def exchange_error(error: Exception) -> Exception:
    """The error that an open connection ended by, as an ExchangeError; a ReadBudgetSpent stays one.

    It is an own fault where this machine lacked a resource.
    """
    if isinstance(error, ReadBudgetSpent):
        return error
    if missing := missing_resource(error):
        return ExchangeError(Outcome.OWN_FAULT, missing)
    # with TLS 1.3 a server learns only after the handshake, as a client sees it, that a certificate is missing
    return ExchangeError(Outcome.TLS if wants_client_certificate(error) else Outcome.CUT, describe(error))


def describe(error: BaseException) -> str:
    """What went wrong, in one plain line without control characters."""
    if isinstance(error, ssl.SSLError):
        return describe_tls_error(error)
    if isinstance(error, OSError) and error.errno in errno.errorcode:
        return os.strerror(error.errno or 0)
    if isinstance(error, OSError) and error.strerror:
        return line(error.strerror)
    return line(str(error)) or type(error).__name__
