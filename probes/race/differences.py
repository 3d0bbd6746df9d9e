"""Differences: where the lanes of a race can not be asked the same; pure."""

from collections.abc import Iterable, Sequence

from probes.endpoint import Endpoint


def differences(lanes: Sequence[Endpoint]) -> tuple[str, ...]:
    """What differs but the model and who serves it, in words; empty where prompt, cap and options are all the same."""
    return tuple(
        f"{name}: {', '.join(f'{one.name} {words(one)}' for one in lanes)}"
        for name, words in (
            ("temperature", _temperature),
            ("reasoning", lambda one: one.reasoning),
            ("connection", _connection),
            ("extra fields", _extra),
        )
        if len({words(one) for one in lanes}) > 1
    )


def _temperature(endpoint: Endpoint) -> str:
    sent = endpoint.quirks.temperature and endpoint.temperature is not None
    return f"{endpoint.temperature:g}" if sent else "the provider's own"


def _connection(endpoint: Endpoint) -> str:
    return "WebSocket" if endpoint.base_url.startswith("ws") else "HTTP"


def _extra(endpoint: Endpoint) -> str:
    return _listed(f"{name} {value}" for name, value in sorted(endpoint.body.items())) or "none"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
