"""The keys of an endpoint as ``check`` shows them: names, places and commands, never a value, and nothing is run."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from probes.config.endpoint.keys import may_be_a_secret
from probes.durations import lasting
from probes.endpoint import Endpoint
from probes.keys.command import KeyCommand
from probes.keys.lookup import KeySources
from probes.keys.secret import looks_like_a_key
from probes.text import line


@dataclass(frozen=True, slots=True)
class EndpointKeys:
    """The name of the key that an endpoint would use and where that is, and where those of headers and proxy are.

    A source is "environment", "keyring" or "missing"; that of the key is "command" where one prints it, "AWS" where
    AWS's own tools keep the keys that sign its requests, "none" where it takes none. ``others`` has them by key name.
    """

    endpoint: Endpoint
    key: str | None
    source: str
    others: Mapping[str, str]

    @property
    def missing(self) -> bool:
        """Whether one of them cannot be found: nothing would be sent."""
        return "missing" in {self.source, *self.others.values()}

    @property
    def summary(self) -> str:
        """Where the keys are, in one word: "missing" if any is."""
        return "missing" if self.missing else self.source

    @property
    def facts(self) -> list[str]:
        """Where the keys come from and where they go, in a few words each."""
        endpoint, command = self.endpoint, self.endpoint.key_command
        facts = [self.key or ("AWS keys" if endpoint.aws_service else "no key")]
        if command is not None:
            facts = [f"key_command {_shown(command)}", f"anew after {lasting(command.lifetime)}"]
        if endpoint.key_header is not None:
            facts.append(f"key in {endpoint.key_header.name}: {endpoint.key_header.prefix}…")
        for one in endpoint.header_keys:
            facts.append(f"{one.header}: {one.prefix}${one.key} ({self.others[one.key]})")
        if endpoint.route.proxy_key is not None:
            facts.append(f"proxy key {endpoint.route.proxy_key} ({self.others[endpoint.route.proxy_key]})")
        if endpoint.headers:
            facts.append(f"headers {', '.join(endpoint.headers)}")
        return facts

    @property
    def record(self) -> dict[str, Any]:
        """The keys as ``--json`` shows them."""
        endpoint = self.endpoint
        header, command = endpoint.key_header, endpoint.key_command
        return {
            "key": self.key,
            "key_source": self.source,
            "key_header": header.name if header else None,
            "key_prefix": header.prefix if header else None,
            "key_command": _shown(command) if command else None,
            "key_lifetime_s": command.lifetime if command else None,
            "header_keys": [
                {"header": one.header, "prefix": one.prefix, "key": one.key, "source": self.others[one.key]}
                for one in endpoint.header_keys
            ],
            "headers": list(endpoint.headers),
        }


def endpoint_keys(endpoint: Endpoint, sources: KeySources) -> EndpointKeys:
    """The keys of an endpoint, by where each name was found."""
    others = {name: sources.found.get(name, "missing") for name in endpoint.key_names[len(endpoint.keys) :]}
    if endpoint.key_command is not None:
        return EndpointKeys(endpoint, None, "command", others)
    without = "missing" if endpoint.keys else "AWS" if endpoint.aws_service else "none"
    key, source = sources.first(endpoint.keys) or (next(iter(endpoint.keys), None), without)
    return EndpointKeys(endpoint, key, source, others)


def warnings(endpoint: Endpoint) -> list[str]:
    """What may be wrong with an endpoint though nothing forbids it."""
    return [
        f'headers.{name} is as long and as mixed as a key; if it is one: {name} = "$NAME"'
        for name, value in endpoint.headers.items()
        if may_be_a_secret(value)
    ]


def _shown(command: KeyCommand) -> str:
    """A command as one would type it; an argument that may be a key is left out."""
    return line(" ".join("…" if looks_like_a_key(one) else shlex.quote(one) for one in command.arguments), 200)
