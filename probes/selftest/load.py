"""Load: what a selftest makes the engine read: so many streams at such a speed, and the models behind them."""

from dataclasses import dataclass
from typing import Final, Literal

from probes.endpoint import Endpoint, Quirks
from probes.preset import presets
from probes.simulator.behaviour import Behaviour
from probes.simulator.distribution import Constant, Normal

PRESET: Final = "vllm"
"""A server that takes no key; the stamps lie below every dialect."""

TTFT_MS: Final = Normal(50.0, 12.0)
"""Random, so that nothing that ticks can be in step with it."""

TEXT: Final = "ticked" * 20
"""Tokens of one length, so that the first one's share of the characters is its share of the tokens."""


@dataclass(frozen=True, slots=True)
class Load:
    """``streams`` endpoints, each probed every ``interval`` seconds for ``tokens`` tokens at ``tokens_per_s``.

    With several streams every other one opens a new connection for each probe; the last one goes over TLS.
    """

    streams: int
    tokens_per_s: int
    tokens: int
    interval: float

    @property
    def name(self) -> str:
        """As people say it: ``2 × 2,000``."""
        return f"{self.streams} × {self.tokens_per_s:,}"

    @property
    def model(self) -> str:
        """The simulated model that answers at this speed."""
        return f"selftest-{self.tokens_per_s}"

    @property
    def behaviour(self) -> Behaviour:
        """What that model is like."""
        return Behaviour(
            ttft_ms=TTFT_MS, tokens_per_s=Constant(self.tokens_per_s), output_tokens=Constant(self.tokens), text=TEXT
        )

    def endpoints(self, plain_url: str, tls_url: str) -> tuple[Endpoint, ...]:
        """The endpoints to probe at a ground-truth server."""
        return tuple(
            Endpoint(
                name=f"selftest/{number + 1}",
                provider="selftest",
                model=f"{self.model}-{number + 1}",
                dialect=presets()[PRESET].dialect,
                base_url=tls_url if number == self.streams - 1 and self.streams > 1 else plain_url,
                quirks=Quirks(),
                connection=_connection(number),
                interval=self.interval,
                prompt="Count.",
                max_output_tokens=self.tokens,
            )
            for number in range(self.streams)
        )

    def models(self) -> dict[str, Behaviour]:
        """The models that serve them, one each, so that no probe is taken for another."""
        return {f"{self.model}-{number + 1}": self.behaviour for number in range(self.streams)}


def _connection(number: int) -> Literal["warm", "cold"]:
    return "cold" if number % 2 else "warm"


LOADS: Final = (
    Load(1, 100, tokens=30, interval=0.5),
    Load(2, 2_000, tokens=600, interval=0.5),
    Load(2, 5_000, tokens=1_500, interval=0.5),
    Load(20, 500, tokens=400, interval=1.0),
)
"""One slow stream; two fast ones; two at what the fastest providers reach; many at once."""
