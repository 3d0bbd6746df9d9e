"""The secrets that authenticate an endpoint's requests: put into requests, and hidden in any text that echoes them."""

import base64
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from probes.keys.redaction import Redaction, Redactions
from probes.keys.secret import Secret
from probes.wire.aws import AwsSigner
from probes.wire.dialect import WireRequest

LEAST_WORD: Final = 8
LEAST_OTHER: Final = 5
"""Shortest plain header value that is hidden too, in characters: of one that is a mere word, and of any other. "true",
"prod" and "infra" stand in any message."""


@dataclass(frozen=True, slots=True)
class SecretHeader:
    """A header, named in lower case, whose value is ``prefix`` and a key."""

    name: str
    prefix: str
    secret: Secret


@dataclass(frozen=True)
class Credentials:
    """The secrets of one endpoint's requests, as found for one probe; repr shows none of them.

    ``key`` is for the dialect, which puts it into its requests. ``headers`` are added to these requests. ``aws`` signs
    the result. ``proxy`` is the "user:password" of the proxy. ``plain`` are other header values of the configuration;
    one that is echoed whole is hidden as well.
    """

    key: Secret | None = None
    headers: tuple[SecretHeader, ...] = ()
    plain: tuple[str, ...] = field(default=(), repr=False)
    aws: AwsSigner | None = None
    proxy: Secret | None = None

    def authorize(self, request: WireRequest) -> WireRequest:
        """The request with its secret headers, which win over those it has, and with its signature."""
        secret = {one.name: one.prefix + one.secret.reveal() for one in self.headers}
        request = replace(request, headers={**request.headers, **secret}, proxy_key=self.proxy)
        return self.aws.sign(request) if self.aws else request

    @cached_property
    def redaction(self) -> Redactions:
        """Finds every secret, and parts of it, in texts."""
        secrets = [*([self.key] if self.key else []), *(one.secret for one in self.headers)]
        secrets += self.aws.secrets if self.aws else []
        whole = [Redaction(one, whole=True) for one in dict.fromkeys(self.plain) if _is_distinctive(one)]
        return Redactions([*(one.redaction for one in secrets), *_proxy_redactions(self.proxy), *whole])

    def hide(self, text: str) -> str:
        """``text`` without any of the secrets and without any part of them, however spelt."""
        return self.redaction.hide(text)


def _is_distinctive(value: str) -> bool:
    """Whether a plain header value is long enough not to be a usual word of a message."""
    return len(value) >= (LEAST_WORD if value.isalpha() else LEAST_OTHER)


def _proxy_redactions(proxy: Secret | None) -> list[Redaction]:
    """Find a proxy's "user:password", the password alone, and both in Basic's base64 (RFC 7617).

    A password so short that any text may contain it is found only as a word by itself.
    """
    if proxy is None:
        return []
    value = proxy.reveal()
    password = value.partition(":")[2]
    parts = [value, base64.b64encode(value.encode()).decode("ascii"), password]
    return [Redaction(one, whole=len(one) < LEAST_OTHER) for one in parts if one]
