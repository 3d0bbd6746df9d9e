"""What an entry of another tool's configuration comes to: an endpoint of ours, or why it is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from probes.config.given_endpoint import Address
from probes.config.presets import presets
from probes.keys.secret import Secret


@dataclass(frozen=True, slots=True)
class PlainKey:
    """A key that stands in another tool's file as plain text, and the name it would have in the keyring."""

    name: str
    secret: Secret


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry: ``entry`` says which, in words.

    ``values`` are the keys and values of an ``[[endpoint]]`` but for its name; ``problem`` says why there are none.
    ``notes`` name what of the entry has no place here. ``key`` is its key, where that is written in the file.
    """

    entry: str
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str | None = None
    key: PlainKey | None = None


def endpoint_values(
    address: Address, model: str, *, key: str | None = None, price: tuple[float, float] | None = None
) -> dict[str, Any]:
    """The keys and values of an ``[[endpoint]]``, but for its name and for what its provider's preset has anyway.

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
    elif key is not None and key != next(iter(preset.keys), "none"):
        values["key"] = key
    if price is not None:
        values["price"] = {"input": round(price[0], 6), "output": round(price[1], 6)}
    return values
