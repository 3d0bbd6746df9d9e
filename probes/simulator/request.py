"""Request: an HTTP request, or a message of a WebSocket, as it was read, and what one in any tongue asks for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

CHARS_PER_TOKEN: Final = 4

Thinking = Literal["shown", "hidden", "off"]


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; header names are lower case. A ``message`` of a WebSocket is the body of its upgrade."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    message: bool = False

    @property
    def upgrade(self) -> bool:
        """Whether it asks for a WebSocket."""
        asked = (self.method, self.headers.get("upgrade", "").lower()) == ("GET", "websocket")
        return asked and not self.message


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request asks for. ``cap`` is its limit of output tokens, None without one.

    ``thinking`` is what is to become of the reasoning of a model that has some: told, kept back, or left out.
    """

    model: str
    cap: int | None = None
    input_tokens: int = 0
    stream: bool = True
    usage: bool = False
    thinking: Thinking = "shown"
    body: Mapping[str, Any] = field(default_factory=dict)


def body_of(data: bytes) -> dict[str, Any]:
    """The JSON object of a request body. Raises ValueError for anything that is not one."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ValueError("We could not parse the JSON body of your request.")
    return body


def cap_of(values: Mapping[str, Any], *names: str) -> int | None:
    """The output cap under the first of these names that is there. Raises ValueError for what is no cap."""
    cap = next((values[one] for one in names if one in values), None)
    if cap is None:
        return None
    if not isinstance(cap, int) or cap < 1:
        raise ValueError(f"{cap!r} is not a positive integer - '{names[-1]}'")
    return cap


def tokens_in(*prompts: object) -> int:
    """A guess at the tokens of some prompts, whatever they are made of."""
    return 1 + sum(len(str(one)) for one in prompts) // CHARS_PER_TOKEN
