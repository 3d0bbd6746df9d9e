"""The most an endpoint can use in a day at its interval, and the tokens of its prompt."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from probes.endpoint import Endpoint

DAY_S: Final = 86_400
BYTES_PER_TOKEN: Final = 3
"""Of UTF-8, on the safe side: English prose has more than 4 over common tokenizers, Chinese about 3."""

FRAME_TOKENS: Final = 24
"""For the nonce in front of the prompt and the chat template around it."""


@dataclass(frozen=True, slots=True)
class DailyCost:
    """Upper bounds of one day: every probe is made, and writes as much as it may. ``usd`` is None without a price."""

    probes: int
    input_tokens: int
    output_tokens: int
    usd: float | None

    @property
    def tokens(self) -> int:
        """Input and output together, as the budget counts them."""
        return self.input_tokens + self.output_tokens


def daily_cost(endpoint: Endpoint) -> DailyCost:
    """What an endpoint comes to in a day."""
    probes = math.ceil(DAY_S / endpoint.interval)
    sent, written = probes * prompt_tokens(endpoint), probes * endpoint.output_cap
    price = endpoint.price
    usd = (sent * price.input + written * price.output) / 1_000_000 if price else None
    return DailyCost(probes, sent, written, usd)


def prompt_tokens(endpoint: Endpoint) -> int:
    """What a probe sends, in tokens, estimated from the length of all its messages and of the texts in its own body."""
    texts = (endpoint.conversation.text, *_texts(endpoint.body))
    return math.ceil(sum(len(one.encode("utf-8", "replace")) for one in texts) / BYTES_PER_TOKEN) + FRAME_TOKENS


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value: a system prompt, or what a tool is for, may be among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(one)
