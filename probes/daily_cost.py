"""Daily cost: the most an endpoint can use in a day at its cadence."""

import math
from dataclasses import dataclass
from typing import Final

from probes.endpoint import Endpoint

DAY_S: Final = 86_400
CHARS_PER_TOKEN: Final = 4  # English prose, over common tokenizers
FRAME_TOKENS: Final = 24  # the nonce in front of the prompt, and the chat template around it


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
    sent, written = probes * prompt_tokens(endpoint), probes * endpoint.max_output_tokens
    price = endpoint.price
    usd = (sent * price.input + written * price.output) / 1_000_000 if price else None
    return DailyCost(probes, sent, written, usd)


def prompt_tokens(endpoint: Endpoint) -> int:
    """What a probe sends, in tokens, estimated from the length of all its messages."""
    return math.ceil(len(endpoint.conversation.text) / CHARS_PER_TOKEN) + FRAME_TOKENS
