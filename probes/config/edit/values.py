"""What is written of a new endpoint: only what its provider's preset does not have anyway; pure."""

from typing import Any

from probes.config.endpoint.given import Address
from probes.config.presets import presets


def endpoint_values(
    address: Address, model: str, *, key: str | None = None, price: tuple[float, float] | None = None
) -> dict[str, Any]:
    """The keys and values of an ``[[endpoint]]``, but for its name.

    ``address.provider`` is the name of a preset, or None. ``key`` is the name of the key, "none" for no key, and None
    for the provider's own. ``price`` is in USD per million tokens, of input and output.
    """
    preset = presets().get(address.provider or "")
    values: dict[str, Any] = {} if preset is None else {"provider": preset.name}
    values["model"] = model
    if address.dialect is not None and (preset is None or address.dialect != preset.dialect):
        values["dialect"] = address.dialect
    if preset is None or address.base_url != preset.base_url:
        values["base_url"] = address.base_url
    if preset is None:
        values["key"] = key or "none"
    elif key is not None and key not in (preset.keys or ("none",)):
        values["key"] = key
    if price is not None:
        values["price"] = {"input": round(price[0], 6), "output": round(price[1], 6)}
    return values
