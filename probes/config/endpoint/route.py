"""How to connect, in an ``[[endpoint]]`` or in ``[probe]``: proxy, socket, authorities, client certificate."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from probes.config import checks
from probes.config.table import Table
from probes.route import DIRECT, ENVIRONMENT, SYSTEM, Route, TlsOptions, proxy_at, via_of

UNIX: Final = "unix://"

_DEFAULT, _NO_CERTIFICATE = "default", "none"
_SOCKET_LIMIT: Final = 103
"""Bytes of a socket's path that every system takes (unix(7), macOS's sys/un.h)."""


def read_route(table: Table, defaults: Route) -> Route:
    """How to connect; ``defaults`` fill in what the table leaves out. Every file it names must be fit for use."""
    proxy_key = table.read("proxy_key", checks.key_name, None if "proxy" in table else defaults.proxy_key)
    proxy = table.read("proxy", _proxy, defaults.proxy)
    if proxy_key is not None and proxy in (None, DIRECT, ENVIRONMENT):
        table.add_problem("proxy_key", 'needs proxy = "http://host:port" or "socks5://host:port"')
    return Route(proxy, proxy_key, tls=_read_tls(table, defaults.tls))


def with_socket(check_url: Callable[[object], str]) -> Callable[[object], str]:
    """A check for a base URL, or one like ``unix:///run/x.sock:/v1``: the file of a socket, and the path behind it."""

    def check_address(value: object) -> str:
        if not (isinstance(value, str) and value.lower().startswith(UNIX)):
            return check_url(value)
        address = UNIX + value[len(UNIX) :]
        path, url = split_socket(address)
        if path is None or not path.startswith("/") or path.endswith("/"):
            raise ValueError(f'must be like "{UNIX}/run/server.sock:/v1", not {checks.shown(value)}')
        if len(os.fsencode(path)) > _SOCKET_LIMIT:
            raise ValueError(f"names a socket of more than {_SOCKET_LIMIT} bytes, which systems do not take")
        try:
            check_url(url)
        except ValueError as error:  # which suggests another URL: it is to be that of the socket
            corrected = (
                str(error).replace("http://localhost/", f"{UNIX}{path}:/").replace("http://localhost", UNIX + path)
            )
            raise ValueError(corrected) from None
        return address.rstrip("/")

    return check_address


def split_socket(address: str) -> tuple[str | None, str]:
    """The socket's file of a checked address, if it has one, and the URL of the server there: http://localhost/v1."""
    if not address.startswith(UNIX):
        return None, address
    path, mark, below = address.removeprefix(UNIX).partition(":/")
    return path, f"http://localhost{'/' if mark else ''}{below}"


def route_to(table: Table, route: Route, socket: str | None, base_url: str) -> Route:
    """The route of an endpoint at this address, or at this socket, to which no proxy leads. Adds its problems."""
    if socket is not None:
        if "proxy" in table and route.proxy != DIRECT:
            table.add_problem("proxy", f"and a {UNIX} address do not go together")
        return replace(route, proxy=None, proxy_key=None, socket=socket)
    try:
        via_of(route, base_url)
    except ValueError as error:  # only the environment's can still be wrong
        table.add_problem("proxy", str(error))
    return route


def _proxy(value: object) -> str:
    address = checks.text(value)
    if address in (ENVIRONMENT, DIRECT):
        return address
    if "@" in address:
        raise ValueError('must not hold a user or password; proxy_key = "NAME" names them, as user:password')
    proxy_at(address, "")
    return address


def _read_tls(table: Table, defaults: TlsOptions) -> TlsOptions:
    ca = table.read("ca", _authorities(table), defaults.ca)
    default_cert, default_key = (None, None) if "client_cert" in table else (defaults.client_cert, defaults.client_key)
    cert = table.read("client_cert", _path_or(table, _NO_CERTIFICATE), default_cert)
    key = table.read("client_key", _path_or(table), default_key)
    cert = None if cert == _NO_CERTIFICATE else cert
    if key is not None and cert is None:
        table.add_problem("client_key", "needs client_cert")
    elif cert is not None and ("client_cert" in table or "client_key" in table):
        # only now: it reads files, and most endpoints have none
        from probes.tls.context import client_certificate_problem

        if (problem := client_certificate_problem(cert, key)) is not None:
            table.add_problem("client_cert", problem)
    return TlsOptions(None if ca == _DEFAULT else ca, cert, key)


def _authorities(table: Table) -> Callable[[object], str]:
    """A check for whom to trust: "system", "default", or a file with certificates."""

    def check_authorities(value: object) -> str:
        path = _path_or(table, SYSTEM, _DEFAULT)(value)
        if path in (SYSTEM, _DEFAULT):
            return path
        from probes.tls.context import authorities_problem  # only now: it reads the file

        if (problem := authorities_problem(path)) is not None:
            raise ValueError(problem)
        return path

    return check_authorities


def _path_or(table: Table, *words: str) -> Callable[[object], str]:
    """A check for one of some words, or the path of a file; a relative one is taken from the configuration's folder."""

    def check_path(value: object) -> str:
        if value in words:
            return str(value)
        return os.path.join(table.folder, Path(checks.text(value)).expanduser())  # noqa: PTH118  # a text, as ssl wants it

    return check_path
