"""Socket error: what a connection that was open ended by, as an outcome and in words; pure."""

import errno
import os
import ssl

from probes.outcome import Outcome
from probes.own_fault import lacking
from probes.read_budget import ReadBudgetSpent
from probes.text import line
from probes.tls_words import tls_words, wants_client_certificate
from probes.transport import ExchangeError


def broken(error: Exception) -> Exception:
    """What a connection that was open ended by; an own fault where this machine lacked something."""
    if isinstance(error, ReadBudgetSpent):
        return error
    if ours := lacking(error):
        return ExchangeError(Outcome.OWN_FAULT, ours)
    # with TLS 1.3 a server learns only after the handshake, as a client sees it, that a certificate is missing
    return ExchangeError(Outcome.TLS if wants_client_certificate(error) else Outcome.CUT, words(error))


def words(error: BaseException) -> str:
    """What went wrong, in one plain line."""
    if isinstance(error, ssl.SSLError):
        return tls_words(error)
    if isinstance(error, OSError) and error.errno in errno.errorcode:
        return os.strerror(error.errno or 0)
    if isinstance(error, OSError) and error.strerror:
        return line(error.strerror)
    return line(str(error)) or type(error).__name__
