"""Base URLs that the environment gives, as the vendors' own clients read them: OPENAI_BASE_URL, OLLAMA_HOST; pure."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from probes.config import checks
from probes.config.presets import Preset

_KEY: Final = "_API_KEY"
_URL: Final = "_BASE_URL"

_VERSIONED: Final = re.compile(r"/v\d\w*$")


class BaseUrlVariable(NamedTuple):
    """A variable of the environment that is set, and the base URL it makes of a provider's preset."""

    name: str
    base_url: str


def base_url_variable(preset: Preset, environment: Mapping[str, str]) -> BaseUrlVariable | None:
    """The base URL that the environment gives for a provider; None where it gives none.

    ``X_BASE_URL`` goes with a key of the name ``X_API_KEY``. Raises ValueError, which names the variable, where one is
    set and is not the address of an API.
    """
    if preset.host_variable is not None:
        return _of_host(preset, preset.host_variable, environment.get(preset.host_variable, "").strip())
    named = (key.removesuffix(_KEY) + _URL for key in preset.keys if key.endswith(_KEY))
    for name in (*named, *preset.url_variables):
        if value := environment.get(name, "").strip():
            return BaseUrlVariable(name, _address(preset, name, value))
    return None


def base_url_of(preset: Preset, environment: Mapping[str, str]) -> str:
    """The base URL of a provider: what the environment gives, else the preset's.

    Raises ValueError where the variable is set and is not the address of an API.
    """
    variable = base_url_variable(preset, environment)
    return variable.base_url if variable else preset.base_url


def _address(preset: Preset, name: str, value: str) -> str:
    """The value as a base URL of the preset, by its own scheme where that is a WebSocket's."""
    try:
        url = checks.base_url(value)
    except ValueError as error:
        raise ValueError(f"the environment variable {name} {error}") from None
    if preset.base_url.startswith("ws"):
        url = re.sub("^http", "ws", url)
    path = urlsplit(preset.base_url).path
    if preset.client_adds_path and not url.endswith(path) and not _VERSIONED.search(urlsplit(url).path):
        url += path
    return url


def _of_host(preset: Preset, name: str, host: str) -> BaseUrlVariable | None:
    """``host``, ``host:port`` or a URL; 0.0.0.0, where a server listens, is this machine (Ollama's FAQ)."""
    if not host:
        return None
    has_scheme = "://" in host
    try:
        parts = urlsplit(checks.base_url(host if has_scheme else f"http://{host}"))
    except ValueError as error:
        raise ValueError(f"the environment variable {name} {error}") from None
    own = "localhost" if parts.hostname in ("0.0.0.0", "::") else parts.hostname or ""  # noqa: S104 - not listened at
    bracketed = f"[{own}]" if ":" in own else own
    usual = urlsplit(preset.base_url)
    port = parts.port or (None if has_scheme else usual.port)
    where = f"{parts.scheme}://{bracketed}{f':{port}' if port else ''}"
    return BaseUrlVariable(name, where + parts.path + usual.path)
