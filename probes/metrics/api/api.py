"""The HTTP API: who may ask is decided here, and what is answered by a process of its own."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from probes.config.checks import key_name
from probes.keys.lookup import find_key
from probes.keys.secret import Secret
from probes.metrics.address import Address
from probes.metrics.api.access import Access, checked_host, is_loopback
from probes.metrics.api.messages import Answer, Request, not_modified
from probes.metrics.api.renderer import Renderer

TOKEN_LENGTH: Final = 16
"""Characters that a bearer token has at least: a shorter one could be guessed."""


class ApiOptions(NamedTuple):
    """Who may ask the API, by the options of the command line."""

    access: Access

    @classmethod
    def from_options(cls, address: Address, hosts: Sequence[str], key: str | None) -> "ApiOptions":
        """From ``--api-host`` and ``--api-key``. Raises ValueError, also where other machines could ask without a key.

        May wait for the keyring and for the name of the address to be resolved.
        """
        if key is None and not only_this_machine(address.host):
            raise ValueError(
                f"--api at {address} answers other machines too and needs --api-key NAME: the name of a bearer token "
                f"that they send, in the environment or the keyring"
            )
        token = None if key is None else _token(key)
        return cls(Access(frozenset(checked_host(one) for one in hosts), token))


class Api:
    """Answers requests; from any thread."""

    def __init__(self, access: Access, renderer: Renderer) -> None:
        self._access, self._renderer = access, renderer

    def may_listen(self, host: str) -> bool:
        """Whether the API may be asked at this address: without a token only from this machine."""
        return self._access.token is not None or is_loopback(host)

    def answer(self, request: Request) -> Answer:
        """The answer to a request, or why there is none."""
        if (refused := self._access.refusal(request)) is not None:
            return refused
        known = request.headers.get_all("If-None-Match")  # a list may come in several lines (RFC 9110, 5.3)
        return not_modified(self._renderer.answer(request.target), ",".join(known) if known else None)


@contextmanager
def answering(options: ApiOptions, store_url: str) -> Iterator[Api]:
    """The API of a store, whose process runs until the block is left."""
    renderer = Renderer(store_url)
    renderer.start()
    try:
        yield Api(options.access, renderer)
    finally:
        renderer.close()


def only_this_machine(host: str) -> bool:
    """Whether nobody reaches what listens at a host but from this machine; a name is resolved. False if it has none."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(is_loopback(str(place[0])) for *_, place in found)


def _token(name: str) -> Secret:
    """The token of that name, from the environment or the keyring. Raises ValueError, which quotes no key."""
    try:
        found = find_key((key_name(name),))
    except ValueError as error:
        raise ValueError(f"--api-key {error}") from None
    if found is None:
        raise ValueError(f"--api-key: there is no {name} in the environment or keyring: inftop keys set {name}")
    if len(found.secret.reveal()) < TOKEN_LENGTH:
        raise ValueError(f"--api-key: {name} has under {TOKEN_LENGTH} characters: make one by openssl rand -hex 32")
    return found.secret
