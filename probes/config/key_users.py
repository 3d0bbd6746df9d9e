"""Who uses which key: the endpoints of a configuration, then the providers that inftop knows; names only."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from probes.config.model_sources import source_of
from probes.config.presets import Preset
from probes.endpoint import Endpoint
from probes.text import line

Kind = Literal["name", "command", "aws"]


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A key and its users.

    ``name`` is the name that the key is looked for under; where a program prints it (``command``) that of the program,
    where AWS's own tools keep it (``aws``) "AWS". ``endpoints`` use it; ``providers`` are presets whose key it is.
    ``instead``: names that do as well as this one, for the same users. ``asked`` are the words after ``inftop models``
    that ask the first of the users, at ``url``, for its list of models with this very key; none where there is no list.
    """

    name: str
    kind: Kind
    endpoints: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    url: str = ""


def key_uses(endpoints: Iterable[Endpoint], presets: Iterable[Preset]) -> tuple[KeyUse, ...]:
    """Every key that these endpoints and presets use: those of endpoints first, each in the given order."""
    found: dict[tuple[Kind, str], KeyUse] = {}
    endpoints = tuple(endpoints)
    keys_of = {one.provider: {each.keys for each in endpoints if each.provider == one.provider} for one in endpoints}

    def use(kind: Kind, name: str, instead: tuple[str, ...] = ()) -> KeyUse:
        known = found.get((kind, name), KeyUse(name, kind))
        others = (*known.instead, *(one for one in instead if one != name))
        return replace(known, instead=tuple(dict.fromkeys(others)))

    for endpoint in endpoints:
        for kind, name in _keys(endpoint):
            is_key = name in endpoint.keys
            known = use(kind, name, endpoint.keys if is_key else ())
            if is_key and not known.asked and source_of(endpoint).path is not None:
                is_only = keys_of[endpoint.provider] == {(name,)}
                known = replace(
                    known, asked=_asked(endpoint, endpoint.provider, name, is_only=is_only), url=endpoint.base_url
                )
            found[kind, name] = replace(known, endpoints=(*known.endpoints, endpoint.name))
    for preset in presets:
        for name in preset.keys:
            known = use("name", name, preset.keys)
            if not known.asked and preset.models_path is not None:
                is_only = len(preset.keys) == 1 and preset.name not in keys_of
                known = replace(known, asked=_asked(preset, preset.name, name, is_only=is_only), url=preset.base_url)
            found["name", name] = replace(known, providers=(*known.providers, preset.name))
    return tuple(found.values())


def _asked(at: Endpoint | Preset, provider: str, name: str, *, is_only: bool) -> tuple[str, ...]:
    """What asks a server with the key ``name``; ``is_only``: its provider is asked with no other one."""
    return (provider,) if is_only else ("--url", at.base_url, "--dialect", at.dialect, "--key-env", name)


def _keys(endpoint: Endpoint) -> Iterable[tuple[Kind, str]]:
    """The keys of an endpoint, each once."""
    if endpoint.key_command is not None:
        yield "command", line(Path(endpoint.key_command.arguments[0]).name, 60)
    if endpoint.aws_service:
        yield "aws", "AWS"
    for name in dict.fromkeys(endpoint.key_names):
        yield "name", name
