"""Why a TLS session failed, in words: which certificate, why, and what to do about it."""

import re
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from probes.outcome import Outcome
from probes.text import line

HTTP2_ONLY: Final = "the server speaks HTTP/2 only, inftop HTTP/1.1"

USE_HTTPS: Final = "the server wants TLS: use https://"

CLIENT_CERTIFICATE: Final = 'client_cert = "/path/to/file.pem"'
"""What to do where a server wants a client certificate."""

BEHIND_HANDSHAKE: Final = f"right behind the TLS handshake; if it wants a client certificate: {CLIENT_CERTIFICATE}"

_ALERT: Final = 0x15
_CONTENT_TYPES: Final = range(0x14, 0x18)
"""The content types that a TLS record may have, and that of one that holds an alert (RFC 8446 §5.1)."""

_ALERTS: Final = {
    40: "handshake failure",
    42: "bad certificate",
    43: "unsupported certificate",
    44: "certificate revoked",
    45: "certificate expired",
    46: "certificate unknown",
    48: "unknown ca",
    49: "access denied",
    70: "protocol version",
    112: "unrecognized name",
    116: "certificate required",
    120: "no application protocol",
}
"""Alerts by number (RFC 8446 §6), in the words of OpenSSL's reasons."""

_ABOUT_CLIENT_CERTIFICATE: Final = frozenset(_ALERTS[number] for number in (42, 43, 44, 45, 46, 48, 49))

_REASON: Final = re.compile(r"^(?:sslv3|tlsv1|tlsv13)(?: alert)? ")
_HTTP2: Final = re.compile(rb"\x00..[\x04\x07].\x00\x00\x00\x00", re.DOTALL)
"""How an HTTP/2 server begins: a SETTINGS frame, or GOAWAY, of stream 0 (RFC 9113 §3.4, §4.1)."""

_WANT_TLS: Final = (
    b"plain http request was sent to https port",
    b"http request to an https server",
    b"ssl-enabled server port",
)
"""nginx, Go's net/http, Apache."""

_EXPIRED, _NOT_YET, _SELF_SIGNED, _HOSTNAME, _ADDRESS = 10, 9, 18, 62, 64
_UNKNOWN_ISSUER: Final = frozenset({2, 19, 20, 21})
"""Codes of OpenSSL's certificate verification (x509_vfy.h)."""

_NAMES_SHOWN: Final = 4

Certificate = Mapping[str, Any]
"""A certificate as `ssl.SSLSocket.getpeercert` returns it."""


class HandshakeError(ssl.SSLError):
    """A handshake that failed, in words; ``outcome`` is tls, or protocol where the failure was not about TLS."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


class FailedHandshake(NamedTuple):
    """How far a handshake came: with which host, the first bytes that were received, and the certificates in them."""

    host: str
    first_bytes: bytes
    chain: Sequence[Certificate] = ()


def handshake_error(error: ssl.SSLError, handshake: FailedHandshake, now_epoch_s: float) -> HandshakeError:
    """The error of a handshake that failed at ``now_epoch_s`` (seconds since the epoch)."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return HandshakeError(Outcome.TLS, _certificate_words(error, handshake, now_epoch_s))
    if handshake.first_bytes and handshake.first_bytes[0] not in _CONTENT_TYPES:
        return HandshakeError(Outcome.TLS, _no_tls(handshake.first_bytes))
    first_alert = _first_alert(handshake.first_bytes)
    alert = first_alert or reason(error)
    if alert == "no application protocol":
        return HandshakeError(Outcome.PROTOCOL, HTTP2_ONLY)
    if alert == "handshake failure":  # about what our first message offered, or later about what was left out (TLS 1.2)
        words = "no cipher or signature in common with the server" if first_alert else _wants_certificate(alert)
    elif alert in {"protocol version", "unsupported protocol"}:
        words = "the server speaks neither TLS 1.2 nor TLS 1.3"
    elif alert == "unrecognized name":
        words = f"the server knows no host named {line(handshake.host, 80)}"
    else:
        words = describe_tls_error(error)
    return HandshakeError(Outcome.TLS, words)


def describe_tls_error(error: ssl.SSLError) -> str:
    """Why a session failed, in the handshake or after it: TLS 1.3 refuses a client without certificate late."""
    alert = reason(error)
    if alert == "certificate required" or alert in _ABOUT_CLIENT_CERTIFICATE:
        return _wants_certificate(alert)
    return alert


def wants_client_certificate(error: BaseException) -> bool:
    """Whether the server ended a session because it wants a client certificate, or another one."""
    alert = reason(error) if isinstance(error, ssl.SSLError) else ""
    return alert == "certificate required" or alert in _ABOUT_CLIENT_CERTIFICATE


def reason(error: ssl.SSLError) -> str:
    """OpenSSL's reason, or the alert that was received, in lower-case words."""
    alert = line((error.reason or str(error)).replace("_", " ").lower())
    return _REASON.sub("", alert)


def not_http1(data: bytes) -> str | None:
    """What a server sent in place of HTTP/1.1, in words with advice; None where that is not known."""
    if data[:2] == bytes([_ALERT, 3]):
        return USE_HTTPS
    return HTTP2_ONLY if _HTTP2.match(data) else None


def wants_tls(status: int, body: bytes) -> bool:
    """Whether an error response to a plain request says that the port is one for TLS."""
    return status == HTTPStatus.BAD_REQUEST and any(one in body.lower() for one in _WANT_TLS)


def wants_http2(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a response says that HTTP/1.1 will not do (RFC 9110 §15.5.22, §15.6.6)."""
    if status == HTTPStatus.UPGRADE_REQUIRED:
        return any(name.lower() == b"upgrade" and b"websocket" not in value.lower() for name, value in headers)
    return status == HTTPStatus.HTTP_VERSION_NOT_SUPPORTED


def _wants_certificate(alert: str) -> str:
    if alert in _ABOUT_CLIENT_CERTIFICATE:
        return f"the server does not take our client certificate, or its lack ({alert}): {CLIENT_CERTIFICATE}"
    return f"the server wants a client certificate ({alert}): {CLIENT_CERTIFICATE}"


def _first_alert(first_bytes: bytes) -> str | None:
    """The alert that was the server's whole answer to our first message."""
    return _ALERTS.get(first_bytes[6]) if len(first_bytes) > 6 and first_bytes[0] == _ALERT else None


def _no_tls(first_bytes: bytes) -> str:
    """What it was that did not answer in TLS."""
    if first_bytes.startswith(b"HTTP/"):
        return "the server answers in plain HTTP: use http://"
    if _HTTP2.match(first_bytes):
        return "the server answers in plain HTTP/2, which inftop does not speak"
    return f"no TLS: the server says {line(first_bytes[:40].decode('latin-1'), 40)!r}"


def _certificate_words(error: ssl.SSLCertVerificationError, handshake: FailedHandshake, now: float) -> str:
    """Which certificate is not trusted, why, and what to do about it."""
    code, leaf = error.verify_code, handshake.chain[0] if handshake.chain else None
    if code == _EXPIRED and (expired := _first(handshake.chain, lambda one: _instant(one, "notAfter") < now)):
        return f"certificate: expired {_day(expired, 'notAfter')} (today is {_today(now)} here): {_described(expired)}"
    if code == _NOT_YET and (early := _first(handshake.chain, lambda one: _instant(one, "notBefore") > now)):
        begins = _day(early, "notBefore")
        return f"certificate: valid only from {begins} (today is {_today(now)} here): {_described(early)}"
    if code in (_HOSTNAME, _ADDRESS) and leaf is not None:
        return f"certificate: for {_names(leaf)}, not for {line(handshake.host, 80)}"
    of = f": {_described(leaf)}" if leaf is not None else ""
    if code == _SELF_SIGNED:
        return f'certificate: self-signed{of}; ca = "/path/to/it.pem" trusts it'
    if code in _UNKNOWN_ISSUER:
        alone = "; or the server leaves out the certificates between" if len(handshake.chain) == 1 else ""
        advice = 'ca = "/path/to/authority.pem" or ca = "system" trusts it'
        return f"certificate: its authority is not trusted{of}; {advice}{alone}"
    return f"certificate: {line(error.verify_message)}{of}"


def _first(chain: Sequence[Certificate], wanted: Callable[[Certificate], bool]) -> Certificate | None:
    return next((one for one in chain if wanted(one)), None)


def _instant(one: Certificate, name: str) -> float:
    return ssl.cert_time_to_seconds(one[name])


def _day(one: Certificate, name: str) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(_instant(one, name)))


def _today(now: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(now))


def _described(one: Certificate) -> str:
    """Whose a certificate is, and who issued it."""
    return f"{_named(one, 'subject')}, issued by {_named(one, 'issuer')}"


def _named(one: Certificate, role: str) -> str:
    """The best name of a certificate's subject or issuer: the common name, else the unit, the organization."""
    parts = {name: value for part in one.get(role, ()) for name, value in part}
    found = next(
        (parts[name] for name in ("commonName", "organizationalUnitName", "organizationName") if name in parts), ""
    )
    return repr(line(str(found), 60)) if found else "nobody named"


def _names(one: Certificate) -> str:
    """The hosts that a certificate is for."""
    names = [line(str(value), 60) for _, value in one.get("subjectAltName", ())]
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"{', '.join(names[:_NAMES_SHOWN])}{more}" if names else _named(one, "subject")
