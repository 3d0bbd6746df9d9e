"""Finds the servers that run on this machine: asks the usual ports for their models, by loopback and without a key."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from probes.endpoint import Endpoint, Timeouts
from probes.models.ask import ask
from probes.models.find import find_models
from probes.models.model import ModelList
from probes.tls.context import TlsContexts

PORTS: Final = {11434: "ollama", 8000: "vllm", 8080: "llamacpp", 1234: "lmstudio", 30000: "sglang"}
"""The ports that servers of models listen on unless they are told another, with the preset that each is usual for."""

LIMIT_S: Final = 0.3
"""Seconds a server on this machine has for an answer."""

_ADDRESSES: Final = ("127.0.0.1", "[::1]")


async def find_local_servers(contexts: TlsContexts, ports: Iterable[int] = tuple(PORTS)) -> list[ModelList]:
    """What answers with a list of models on these ports of this machine, in the order of the ports.

    A server that both of a port's addresses lead to is found once, as ``localhost``. One that says nothing of itself
    has no provider, but Ollama's port is nobody else's.
    """
    found = await asyncio.gather(*(_find_at(port, contexts) for port in dict.fromkeys(ports)))
    return [one for of_port in found for one in of_port]


async def _find_at(port: int, contexts: TlsContexts) -> list[ModelList]:
    """The servers on one port: none, one, or one for each address."""
    four, six = await asyncio.gather(*(_ask_at(f"http://{one}:{port}", port, contexts) for one in _ADDRESSES))
    if four.ok and (not six.ok or six.models == four.models):
        return [replace(four, url=four.url.replace("127.0.0.1", "localhost", 1))]
    return [one for one in (four, six) if one.ok]


async def _ask_at(address: str, port: int, contexts: TlsContexts) -> ModelList:
    asked = Endpoint("", "", "", "openai_chat", address, timeouts=Timeouts(connect=LIMIT_S))
    found = await find_models(asked, None, contexts, limit_s=LIMIT_S)
    if found.provider is None and PORTS.get(port) == "ollama":
        found = replace(found, provider="ollama")
    if found.ok and found.provider == "ollama" and found.dialect != "ollama":  # its own list has the quantization, too
        own = await ask(replace(asked, dialect="ollama"), "/api/tags", None, contexts, limit_s=LIMIT_S)
        found = replace(found, models=own.models or found.models)
    return found
