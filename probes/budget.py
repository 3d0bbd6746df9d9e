"""Budget: what may be spent in a day (UTC), and what has been."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from probes.endpoint import Endpoint
from probes.sample import Sample

DAY_MS: Final = 86_400_000

DAYS_KEPT: Final = 7
"""Days besides the one that is counted, of which it is known what they have cost."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps for one UTC day over all endpoints; None is no cap."""

    usd_per_day: float | None = 2.00
    tokens_per_day: int | None = 5_000_000


class Spent(NamedTuple):
    """US dollars, where priced, and input plus output tokens."""

    usd: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """What one UTC day has cost so far; unpriced endpoints count by tokens only.

    ``others`` are the days before and after it that were counted: a clock that is set must not spend a day twice.
    """

    budget: Budget
    day: int
    usd: float = 0.0
    tokens: int = 0
    others: Mapping[int, Spent] = field(default_factory=dict)

    def on(self, at_ms: int) -> "Ledger":
        """The ledger at an instant (ms since the epoch): empty again when a new day has begun."""
        day = at_ms // DAY_MS
        if day == self.day:
            return self
        days = {**self.others, self.day: Spent(self.usd, self.tokens)}
        spent = days.pop(day, Spent(0.0, 0))
        newest = dict(sorted(days.items())[-DAYS_KEPT:])
        return Ledger(self.budget, day, spent.usd, spent.tokens, newest)

    def add(self, sample: Sample, endpoint: Endpoint) -> "Ledger":
        """With one sample's cost: input and output tokens, hidden reasoning among them, and its price.

        Where the output tokens are an estimate they count as no fewer than the endpoint's cap (`uncounted`).
        """
        then = self.on(sample.started_at)
        usd, tokens = sample.cost_usd or 0.0, (sample.input_tokens or 0) + (sample.output_tokens or 0)
        if sample.token_source == "estimate":  # noqa: S105  # no password
            more = uncounted(endpoint, sample.output_tokens or 0)
            usd, tokens = usd + more.usd, tokens + more.tokens
        return replace(then, usd=then.usd + usd, tokens=then.tokens + tokens)

    @property
    def over(self) -> str | None:
        """Which cap has been reached, in words; None while there is budget."""
        usd, tokens = self.budget.usd_per_day, self.budget.tokens_per_day
        if usd is not None and self.usd >= usd:
            return f"the day's budget of ${usd:,.2f} is spent (until 00:00 UTC)"
        if tokens is not None and self.tokens >= tokens:
            return f"the day's budget of {tokens:,} tokens is used (until 00:00 UTC)"
        return None


def uncounted(endpoint: Endpoint, estimate: int) -> Spent:
    """What an answer may have cost beyond its estimated output tokens: all up to the cap.

    A provider without a count that can be believed is not thereby cheaper than one that counts.
    """
    tokens = max(0, endpoint.output_cap - estimate)
    return Spent(tokens * endpoint.price.output / 1e6 if endpoint.price else 0.0, tokens)


def midnight(at_ms: int) -> int:
    """00:00 UTC of the day of an instant, both in milliseconds since the epoch."""
    return at_ms - at_ms % DAY_MS
