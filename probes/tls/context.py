"""TLS contexts: whom an endpoint's connections trust, and who they are; the files are read here, off the clock."""

import contextlib
import os
import ssl
from pathlib import Path
from typing import Final

from probes.config_error import ConfigError, Problem
from probes.route import SYSTEM, TlsOptions
from probes.text import line

_ENVIRONMENT: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def tls_context(options: TlsOptions | None = None) -> ssl.SSLContext:
    """The trust an encrypted endpoint is held to; takes tens of milliseconds, so make it once, off the clock.

    By default that is $SSL_CERT_FILE or $SSL_CERT_DIR, else the authorities that come with Python's certifi. Raises
    ConfigError where a file of the environment, and ValueError where one of the options cannot be used.
    """
    options = options or TlsOptions()
    context = _trusting(options.ca)
    if options.client_cert is not None:
        _identify(context, options.client_cert, options.client_key)
    context.set_alpn_protocols(["http/1.1"])  # a server that speaks HTTP/2 only says so instead of speaking it
    return context


class TlsContexts:
    """A context for each set of options, shared by all that have the same; ``usual`` is that of no options."""

    def __init__(self, usual: ssl.SSLContext | None = None) -> None:
        self._made = {} if usual is None else {TlsOptions(): usual}

    def of(self, options: TlsOptions) -> ssl.SSLContext:
        """The context of these options. Raises ConfigError and ValueError where a file cannot be used."""
        if options not in self._made:
            self._made[options] = tls_context(options)
        return self._made[options]


def authorities_problem(ca: str) -> str | None:
    """Why nobody can be trusted by a file, in words; None where somebody can."""
    try:
        _trusting(ca)
    except ValueError as error:
        return str(error)
    return None


def client_certificate_problem(cert: str, key: str | None) -> str | None:
    """Why a client certificate cannot be shown, in words; None where it can."""
    try:
        _identify(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), cert, key)
    except ValueError as error:
        return str(error)
    return None


def _trusting(ca: str | None) -> ssl.SSLContext:
    if ca is None:
        return _usual()
    if ca == SYSTEM:
        return ssl.create_default_context()
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise ValueError(f"{ca}: holds no certificate in PEM") from None
    except OSError as error:
        raise ValueError(f"{ca}: {error.strerror or error}") from None


def check_environment() -> ssl.SSLContext | None:
    """Whom $SSL_CERT_FILE or $SSL_CERT_DIR say to trust; None where neither is set. Raises ConfigError."""
    for variable in _ENVIRONMENT:
        value = os.environ.get(variable)
        if not value:
            continue
        try:
            if variable == "SSL_CERT_DIR":
                for one in value.split(os.pathsep):
                    next(Path(one).iterdir(), None)
                return ssl.create_default_context(capath=value)
            return ssl.create_default_context(cafile=value)
        except ssl.SSLError:
            what = "holds no certificate in PEM"
        except OSError as error:
            what = error.strerror or str(error)
        advice = 'mend or unset it, or set ca = "system" or ca = "/path/to/file.pem"'
        raise ConfigError((Problem(f"environment: {variable}", line(value), f"{what}; {advice}"),))
    return None


def certificate_expiry(path: str) -> float | None:
    """Until when the first certificate of a file is valid (seconds since the epoch); None where that is not known."""
    with contextlib.suppress(Exception):  # not a public interface: what it tells is a note, and no more
        decoded = ssl._ssl._test_decode_cert(path)  # type: ignore[attr-defined]
        return float(ssl.cert_time_to_seconds(decoded["notAfter"]))
    return None


def _usual() -> ssl.SSLContext:
    """Whom the environment names, else whom certifi does: as httpx has it. Raises ConfigError."""
    if (named := check_environment()) is not None:
        return named
    import httpx  # only now: a configuration is read without it

    return httpx.create_ssl_context(trust_env=False)


def _identify(context: ssl.SSLContext, cert: str, key: str | None) -> None:
    def refuse() -> str:
        raise ValueError(f"{key or cert}: the key is encrypted; inftop reads only one that is not")

    try:
        context.load_cert_chain(cert, key, password=refuse)
    except ssl.SSLError as error:
        raise ValueError(f"{_files(cert, key)}: {_why(error)}") from None
    except OSError as error:
        missing = next((one for one in (cert, key) if one and not Path(one).exists()), _files(cert, key))
        raise ValueError(f"{missing}: {error.strerror or error}") from None


def _files(cert: str, key: str | None) -> str:
    return f"{cert} with {key}" if key else cert


def _why(error: ssl.SSLError) -> str:
    """Why OpenSSL does not take a certificate with its key."""
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the key is not that of the certificate"
    if error.reason in {None, "NO_START_LINE"} or error.library == "PEM":
        return "no certificate and key in PEM"
    return line(str(error.reason).replace("_", " ").lower())
