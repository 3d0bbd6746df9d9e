"""The budget of a day: what may be spent at most."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps for one UTC day over all endpoints; None is no cap."""

    usd_per_day: float | None = 2.00
    tokens_per_day: int | None = 5_000_000
