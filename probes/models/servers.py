"""Which server answers, as far as its list of models tells; pure."""

from collections.abc import Collection, Mapping
from typing import Final

_OWNERS: Final = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llamacpp",
    "library": "ollama",
    "organization_owner": "lmstudio",
    "organization-owner": "lmstudio",
}
"""How servers that run on one's own machine call the owner of their models (``owned_by``), with their presets."""

_HEADERS: Final = {"llama.cpp": "llamacpp"}
"""The beginning of the ``Server`` header, where it names one."""


def server_of(owners: Collection[str], headers: Mapping[str, str]) -> str | None:
    """The preset of the server that sent a list, by the owners in it and the response's headers; None: not known."""
    named = headers.get("server", "").lower()
    by_header = next((preset for start, preset in _HEADERS.items() if named.startswith(start)), None)
    return by_header or next((_OWNERS[one] for one in sorted(owners) if one in _OWNERS), None)
