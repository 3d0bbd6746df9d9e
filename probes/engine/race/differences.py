"""Differences: where the lanes of a race can not be asked the same; pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from probes.endpoint import Endpoint
from probes.route import DIRECT
from probes.text import line

SHOWN: Final = 40
"""Characters of a system prompt that are shown."""


def differences(lanes: Sequence[Endpoint]) -> tuple[str, ...]:
    """What differs but the model and who serves it, in words; empty where all that is sent, and its way, is alike."""
    each: tuple[tuple[str, Callable[[Endpoint], str]], ...] = (
        ("temperature", _temperature),
        ("reasoning", lambda one: one.reasoning),
        ("connection", _connection),
        ("way", _way),
        ("extra fields", _extra),
    )
    found = [_told(lanes, name, words) for name, words in each if len({words(one) for one in lanes}) > 1]
    if len({one.system for one in lanes}) > 1:
        found.append(_told(lanes, "system prompt", _system))
    return tuple(found)


def _told(lanes: Sequence[Endpoint], name: str, words: Callable[[Endpoint], str]) -> str:
    return f"{name}: {', '.join(f'{one.name} {words(one)}' for one in lanes)}"


def _temperature(endpoint: Endpoint) -> str:
    sent = endpoint.quirks.temperature and endpoint.temperature is not None
    return f"{endpoint.temperature:g}" if sent else "the provider's own"


def _connection(endpoint: Endpoint) -> str:
    return "WebSocket" if endpoint.base_url.startswith("ws") else "HTTP"


def _way(endpoint: Endpoint) -> str:
    route = endpoint.route
    if route.socket is not None:
        return "a socket on this machine"
    return "direct" if route.proxy in (None, DIRECT) else f"proxy {route.proxy}"


def _extra(endpoint: Endpoint) -> str:
    return _listed(f"{name} {value}" for name, value in sorted(endpoint.body.items())) or "none"


def _system(endpoint: Endpoint) -> str:
    return "none" if endpoint.system is None else line(repr(endpoint.system), SHOWN)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
