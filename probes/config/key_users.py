"""Who uses which key: endpoints and channels of a configuration, and the providers that inftop knows; names only."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from probes.alerts.settings import AlertSettings, Channel
from probes.config.presets import Preset
from probes.endpoint import Endpoint
from probes.text import line

Kind = Literal["name", "command", "aws"]


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A key and its users.

    ``name`` is the name that the key is looked for under; where a program prints it (``command``) that of the program,
    where AWS's own tools keep it (``aws``) "AWS". ``endpoints`` use it; ``providers`` are presets whose key it is.
    ``instead``: names that do as well as this one, for the same users. ``is_tested``: it is what requests of a user
    carry, so that `inftop keys test` can tell what it is worth; else it is part of a request only.
    """

    name: str
    kind: Kind
    endpoints: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    is_tested: bool = False


def key_uses(endpoints: Iterable[Endpoint], presets: Iterable[Preset]) -> tuple[KeyUse, ...]:
    """Every key that these endpoints and presets use: those of endpoints first, each in the given order."""
    found: dict[tuple[Kind, str], KeyUse] = {}

    def use(kind: Kind, name: str, instead: tuple[str, ...] = ()) -> KeyUse:
        known = found.get((kind, name), KeyUse(name, kind))
        others = (*known.instead, *(one for one in instead if one != name))
        return replace(known, instead=tuple(dict.fromkeys(others)))

    for endpoint in endpoints:
        for kind, name in _keys(endpoint):
            is_key = name in endpoint.keys
            known = use(kind, name, endpoint.keys if is_key else ())
            users = (*known.endpoints, endpoint.name)
            found[kind, name] = replace(known, endpoints=users, is_tested=known.is_tested or is_key)
    for preset in presets:
        for name in preset.keys:
            known = use("name", name, preset.keys)
            found["name", name] = replace(known, providers=(*known.providers, preset.name), is_tested=True)
    return tuple(found.values())


def channel_keys(channel: Channel) -> tuple[str, ...]:
    """The names of the keys that a channel takes."""
    return tuple(one for one in (channel.url, channel.secret, channel.route.proxy_key) if one is not None)


def alert_key_users(alerts: AlertSettings) -> dict[str, list[str]]:
    """Every key that is needed to tell somebody, by its name, and who uses it: "channel ops", "heartbeat"."""
    users: dict[str, list[str]] = {}
    for channel in alerts.channels:
        for name in channel_keys(channel):
            users.setdefault(name, []).append(f"channel {line(channel.name, 60)}")
    if alerts.heartbeat is not None:
        users.setdefault(alerts.heartbeat, []).append("heartbeat")
    return users


def _keys(endpoint: Endpoint) -> Iterable[tuple[Kind, str]]:
    """The keys of an endpoint, each once."""
    if endpoint.key_command is not None:
        yield "command", line(Path(endpoint.key_command.arguments[0]).name, 60)
    if endpoint.aws_service:
        yield "aws", "AWS"
    for name in dict.fromkeys(endpoint.key_names):
        yield "name", name
