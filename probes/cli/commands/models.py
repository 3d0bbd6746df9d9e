"""``models``: what providers say they serve, asked for now, and what changed in that."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC
from pathlib import Path
from urllib.parse import urlsplit

from probes.cli.output.model_lines import NO_EVENTS, event_lines, list_lines
from probes.cli.output.table import print_lines
from probes.config import checks
from probes.config.endpoint_route import split_socket, with_socket
from probes.config.file import find_config
from probes.config.given_endpoint import Address, address_of
from probes.config.load import load
from probes.config.model_sources import ModelSource, key_path_of, named_sources, sources_of, with_key
from probes.config.presets import dialects, models_paths, presets
from probes.config_error import ConfigError
from probes.endpoint import Endpoint
from probes.engine.key_finder import KeyFinder
from probes.exports.instants import writer
from probes.keys.secret import KeyMissing
from probes.models.ask import ask
from probes.models.find import base_of, find_models
from probes.models.key_test import ask_to_test, marked_if_public
from probes.models.model import ModelList
from probes.outcome import Outcome
from probes.route import Route, is_on_this_machine
from probes.sockets import event_loop
from probes.store.location import default_url
from probes.store.models import read_events
from probes.tls.context import TlsContexts

AT_ONCE = 8
"""Lists that are asked for at the same time."""


def models(config: Path | None, names: Sequence[str], *, key: str | None, as_json: bool) -> bool:
    """Print the models of the named providers, or of every one of the configuration that has its key.

    ``key`` is the name of the key to send in place of a provider's own; whether the list says anything of it is told.
    Returns whether every list was had. Raises ConfigError, UnknownProvider, and ValueError for a base URL in the
    environment that is none.
    """
    file = find_config(config)
    known = load(file, may_be_empty=True)
    if names:
        own = () if file.found == "shipped" else known.endpoints  # shipped: they are those of the presets
        sources = named_sources(own, names, known.reachability_plan.route)
    else:
        sources = sources_of(one for one in known.endpoints if one.enabled)
    if key is not None:
        sources = [with_key(one, checks.key_name(key)) for one in sources]
    lists = event_loop.run(ask_all(sources, testing=key is not None))
    if not names:
        lists = [one for one in lists if one.outcome is not Outcome.NO_KEY]
    empty = "no provider of the configuration has its key: inftop keys list says which each takes"
    return _print(lists, empty, as_json=as_json)


def model_events(config: Path | None, names: Sequence[str], since_ms: int, *, as_json: bool) -> None:
    """Print what changed in the lists of models that recorders asked for; of the named providers, or of all.

    Raises ConfigError and StoreProblem.
    """
    url = load(find_config(config)).store_url or default_url()
    found = [one for one in read_events(url, since_ms) if not names or one.provider in names]
    if as_json:
        records = [{**asdict(one), "at": writer(UTC)(one.at)} for one in found]
        print(json.dumps({"events": records}))  # noqa: T201
    else:
        print("\n".join(event_lines(found)) or NO_EVENTS)  # noqa: T201


def models_at(config: Path | None, url: str, *, dialect: str | None, key: str | None, as_json: bool) -> bool:
    """Print the models of the server at an address, whatever it speaks unless ``dialect`` is named.

    ``key`` is the name of the key to send. Without one the key of a known provider is sent to that provider's own host,
    else none. Returns whether the list was had. Raises ValueError and ConfigError for what is no
    address.
    """
    endpoint = endpoint_at(config, url, dialect, key)
    return _print([event_loop.run(ask_address(endpoint))], "", as_json=as_json)


def _print(lists: Sequence[ModelList], empty: str, *, as_json: bool) -> bool:
    if as_json:
        print(json.dumps({"lists": [one.to_json() for one in lists]}))  # noqa: T201
    else:
        shown = [line for one in lists for line in ("", *list_lines(one))]
        print_lines(shown[1:] or [empty])
    return bool(lists) and all(one.ok for one in lists)


async def ask_all(sources: Sequence[ModelSource], *, testing: bool = False) -> list[ModelList]:
    """The lists, in their order; ``testing``: of each it is found out, too, whether it is given to anybody."""
    contexts, keys, turns = TlsContexts(), KeyFinder(), asyncio.Semaphore(AT_ONCE)

    async def ask_one(source: ModelSource) -> ModelList:
        async with turns:
            return await ask_source(source, keys, contexts, testing=testing)

    return list(await asyncio.gather(*map(ask_one, sources)))


async def ask_source(
    source: ModelSource, keys: KeyFinder, contexts: TlsContexts, *, testing: bool = False
) -> ModelList:
    """One list, with the key that is found for it; `no_key` where it is not found, and nothing is sent."""
    endpoint, path = source.endpoint, source.path
    if path is None:
        return await ask(endpoint, None, None, contexts)
    try:
        credentials = await keys.find(endpoint)
    except KeyMissing as missing:
        return ModelList.without_key(endpoint, str(missing))
    if testing and credentials is not None:
        return await ask_to_test(endpoint, path, key_path_of(endpoint), credentials, contexts)
    return await ask(endpoint, path, credentials, contexts)


def endpoint_at(config: Path | None, url: str, dialect: str | None, key: str | None) -> Endpoint:
    """An endpoint at an address; its dialect is "" where it is to be found out. Raises ValueError and ConfigError."""
    if "://" not in url and not url.startswith("unix:"):
        host = urlsplit(f"//{url}").hostname or ""
        url = f"{'http' if is_on_this_machine(host) else 'https'}://{url}"
    if dialect:
        checks.one_of(dialects())(dialect)
    address = address_of(url, dialect)
    preset = presets().get(address.provider or "")
    if preset is not None and not preset.keys:  # told by its port alone: what it says of itself is surer
        preset, address = None, Address(base_of(url), dialect)
    socket, base_url = split_socket(with_socket(checks.base_url)(address.base_url))
    return Endpoint(
        name=base_url,
        provider=preset.name if preset else "",
        model="",
        dialect=address.dialect or "",
        base_url=base_url,
        keys=(checks.key_name(key),) if key else preset.keys if preset else (),
        route=Route(socket=socket) if socket else _route(config, base_url),
    )


def _route(config: Path | None, address: str) -> Route:
    """The way to an address: directly on this machine, else that of [probe] where there is a configuration."""
    if is_on_this_machine(urlsplit(address).hostname or ""):
        return Route()
    try:
        return load(find_config(config), may_be_empty=True).reachability_plan.route
    except ConfigError:
        return Route()


async def ask_address(endpoint: Endpoint) -> ModelList:
    """The models of the server at an endpoint's address, with the key that is found for it."""
    contexts, testing = TlsContexts(), bool(endpoint.keys)
    if endpoint.dialect:
        source = ModelSource(endpoint, models_paths().get(endpoint.dialect))
        return await ask_source(source, KeyFinder(), contexts, testing=testing)
    try:
        credentials = await KeyFinder().find(endpoint)
    except KeyMissing as missing:
        return ModelList.without_key(endpoint, str(missing))
    found = await find_models(endpoint, credentials, contexts)
    path = models_paths().get(found.dialect)
    if not (testing and found.ok and path) or endpoint.route.socket:
        return found
    return await marked_if_public(found, replace(endpoint, base_url=found.url, dialect=found.dialect), path, contexts)
