"""How an endpoint is connected to, as configured: directly, through a proxy, or by a socket's file."""

import ipaddress
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from probes.keys.secret import Secret

ENVIRONMENT: Final = "env"
DIRECT: Final = "none"
"""What ``proxy`` may say in place of an address."""

SYSTEM: Final = "system"
"""What ``ca`` may say in place of a file: the authorities of this machine."""

CA_VARIABLES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The environment's, which name the authorities to trust, as OpenSSL has it."""

AT_PROXY: Final = "proxy: "
"""How the detail of a failure of the proxy itself begins: the endpoint's host has no part in it."""

BEYOND_PROXY: Final = "through the proxy: "
"""How the detail begins where the proxy did its part and the endpoint's host was not reached."""

_PORTS: Final = {"http": 80, "https": 443}
_SECURED: Final = {"ws": "http", "wss": "https"}
_PLAIN: Final = frozenset({"http", "ws"})
_PROXY_PORTS: Final = {"http": 80, "socks5": 1080, "socks5h": 1080}
"""Where a proxy's address names no port: as httpx and requests have it."""


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """Which authorities to trust, and which client certificate to show; ``ca`` is a file, "system", or None (default).

    ``client_key`` is None where the key is in the certificate's file.
    """

    ca: str | None = None
    client_cert: str | None = None
    client_key: str | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """How an endpoint is connected to. ``proxy`` is an address, "env" or "none"; None where nobody said.

    ``proxy_key`` is the name of the proxy's "user:password". ``socket`` is the file of a server on this machine.
    """

    proxy: str | None = None
    proxy_key: str | None = None
    socket: str | None = None
    tls: TlsOptions = field(default_factory=TlsOptions)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy. ``credentials`` are "user:password"; they are shown nowhere.

    One that ``forwards`` is sent the requests themselves, for a plain http endpoint; else it opens a tunnel.
    """

    kind: Literal["http", "socks5"]
    host: str
    port: int
    credentials: Secret | None = None
    forwards: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.kind}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class UnixSocket:
    """A server on this machine that listens at a file."""

    path: str

    def __str__(self) -> str:
        return f"unix://{self.path}"


Via = Proxy | UnixSocket


def is_encrypted(url: str) -> bool:
    """Whether what is sent to a URL must be encrypted: all schemes but http and ws."""
    return urlsplit(url).scheme not in _PLAIN


def via_of(route: Route, base_url: str) -> Via | None:
    """What the connections to an address go through; None where they are direct.

    Raises ValueError where the environment names a proxy that is none.
    """
    if route.socket is not None:
        return UnixSocket(route.socket)
    if route.proxy in (None, DIRECT):
        return None
    if route.proxy != ENVIRONMENT:
        return proxy_at(route.proxy or "", base_url)
    named = environment_proxy(base_url)
    if named is None:
        return None
    variable, address = named
    try:
        return proxy_at(address, base_url)
    except ValueError as error:
        raise ValueError(f"the environment's {variable} {error}") from None


def proxy_at(address: str, base_url: str) -> Proxy:
    """The proxy of an address, for an endpoint. Raises ValueError, which never quotes a password."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise ValueError('is not an address like "http://host:3128" or "socks5://host:1080"') from None
    if parts.scheme not in _PROXY_PORTS or not parts.hostname:
        raise ValueError('must be "http://host:port", "socks5://host:port", "env" or "none"')
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("must end with its port")
    kind: Literal["http", "socks5"] = "http" if parts.scheme == "http" else "socks5"
    forwards = kind == "http" and urlsplit(base_url).scheme == "http"
    return Proxy(kind, parts.hostname, port or _PROXY_PORTS[parts.scheme], _credentials(parts), forwards)


def environment_proxy(base_url: str) -> tuple[str, str] | None:
    """The variable that names a proxy for an address, and what it says; None without one, or where NO_PROXY has it so.

    The rules are those of `urllib.request`, of requests for networks ("10.0.0.0/8") in NO_PROXY, and of Go for
    "*.example.com" and "[::1]:8080" there.
    """
    from urllib import request  # only now: seldom asked for, and slow

    proxies, parts = request.getproxies_environment(), urlsplit(base_url)
    scheme = _SECURED.get(parts.scheme, parts.scheme)
    chosen = next((one for one in (scheme, "all") if proxies.get(one)), None)
    host = parts.hostname or ""
    if chosen is None:
        return None
    port = parts.port or _PORTS.get(scheme, 0)
    excepted = [one.strip().removeprefix("*.") or one for one in proxies.get("no", "").split(",")]
    bypassed = request.proxy_bypass_environment(f"{host}:{port}", {"no": ",".join(excepted)})  # type: ignore[attr-defined]  # not in typeshed
    if bypassed or _in_networks(host, port, excepted):
        return None
    address = proxies[chosen]
    named = (f"{chosen}_proxy", f"{chosen}_proxy".upper())
    variable = next((one for one in named if os.environ.get(one)), named[1])
    return variable, address if "://" in address else f"http://{address}"


def ignored_proxy(route: Route, base_url: str) -> str | None:
    """The variable that names a proxy which is not used since nobody said so; None where there is none."""
    if route.proxy is not None or route.socket is not None or is_on_this_machine(urlsplit(base_url).hostname or ""):
        return None
    named = environment_proxy(base_url)
    return named[0] if named else None


def ignored_words(variable: str) -> str:
    """That a proxy of the environment is not used, and what would use it."""
    return f'{variable} is set and ignored: proxy = "{ENVIRONMENT}" uses it'


def ignored_notes(routes: Iterable[tuple[Route, str]]) -> list[str]:
    """That proxies of the environment are not used, and for how many endpoints, given as their routes and addresses."""
    found = [ignored_proxy(route, address) for route, address in routes]
    named = dict.fromkeys(one for one in found if one is not None)
    return [f"{ignored_words(one)} (endpoints: {found.count(one)})" for one in named]


def is_on_this_machine(host: str) -> bool:
    """Whether a host is this machine by its name or address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _credentials(parts: SplitResult) -> Secret | None:
    """The user and password in a proxy's address; only the environment may hold them."""
    if parts.username is None:
        return None
    return Secret(f"{unquote(parts.username)}:{unquote(parts.password or '')}")


def _in_networks(host: str, port: int, excepted: list[str]) -> bool:
    """Whether an address lies in one of the networks, or is one of the addresses, of NO_PROXY."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    for one in excepted:
        try:
            if address in ipaddress.ip_network(one.removesuffix(f"]:{port}").strip("[]"), strict=False):
                return True
        except ValueError:
            continue
    return False
