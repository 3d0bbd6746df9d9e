"""The first start, on the shipped configuration: its endpoints whose key is found, at the environment's base URLs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from probes.config.base_url_variables import BaseUrlVariable, base_url_variable
from probes.config.presets import presets
from probes.config_error import ConfigError, Problem
from probes.endpoint import Endpoint
from probes.keys.lookup import find_in_environment, find_sources

KEYRING_S: Final = 2.0
"""How long a screen that starts waits for a keyring at most."""

EXAMPLE: Final = "groq/gpt-oss-120b"
"""The shipped endpoint that a new file has where no key of any is found."""


def with_keys(endpoints: Sequence[Endpoint], found: Collection[str]) -> tuple[Endpoint, ...]:
    """Those of the endpoints that take a key, and whose key is among the names that were ``found``."""
    return tuple(one for one in endpoints if one.enabled and any(name in found for name in one.keys))


def names_found(endpoints: Sequence[Endpoint], *, keyring: bool) -> frozenset[str]:
    """The names under which keys of the endpoints are found; in the ``keyring`` too, which may take `KEYRING_S`."""
    names = dict.fromkeys(name for one in endpoints for name in one.keys)
    if keyring:
        return frozenset(find_sources(names, KEYRING_S).found)
    return frozenset(name for name in names if find_in_environment((name,)))


def first_endpoints(endpoints: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """What is watched of the shipped endpoints at first: those whose key is found, and all where none is.

    May wait for the keyring: async code calls it in a thread.
    """
    return with_keys(endpoints, names_found(endpoints, keyring=True)) or tuple(endpoints)


def beginning_endpoints(endpoints: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """What a file of a user's own begins with: the shipped endpoints whose key is found, or one as an example.

    May wait for the keyring.
    """
    found = with_keys(endpoints, names_found(endpoints, keyring=True))
    return found or tuple(one for one in endpoints if one.name == EXAMPLE)


def at_base_urls_of(environment: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the shipped file, each provider at the base URL that the environment names for it.

    Raises ConfigError where the environment names what is no address.
    """
    return {**values, "endpoint": [_moved(one, environment) for one in values.get("endpoint", ())]}


def _moved(endpoint: Mapping[str, Any], environment: Mapping[str, str]) -> Mapping[str, Any]:
    preset = presets().get(endpoint.get("provider", ""))
    if preset is None or "base_url" in endpoint:
        return endpoint
    try:
        variable = base_url_variable(preset, environment)
    except ValueError as error:
        raise ConfigError((Problem("", "", str(error)),)) from None
    return endpoint if variable is None else {**endpoint, "base_url": variable.base_url}


def base_urls_named(endpoints: Sequence[Endpoint], environment: Mapping[str, str]) -> dict[str, BaseUrlVariable]:
    """The variables of the environment that name another base URL for providers of these endpoints, by provider."""
    found: dict[str, BaseUrlVariable] = {}
    for provider in dict.fromkeys(one.provider for one in endpoints):
        if (preset := presets().get(provider)) is None:
            continue
        try:
            variable = base_url_variable(preset, environment)
        except ValueError:
            continue
        if variable is not None:
            found[provider] = variable
    return found
