"""Errors of an open connection: which outcome each is, and what went wrong in one plain line."""

import errno
import os
import socket
import ssl

from probes import resources
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


def missing_resource(error: BaseException | None) -> str | None:
    """The resource that this process or machine lacked; None where the error may be the endpoint's or the network's."""
    if isinstance(error, socket.gaierror):  # its numbers are not those of errno
        if error.errno == socket.EAI_MEMORY:
            return "out of memory"
        return "out of file descriptors" if resources.out_of_descriptors() else None
    return resources.missing_resource(error)


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
