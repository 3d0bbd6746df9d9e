"""How an endpoint keeps its service-level objective: what is left of its error budget, how fast it burns; values."""

from typing import Final

from msgspec import Struct

from probes.alerts.state import Severity

LEAST_PROBES: Final = 10
"""A window with fewer probes says nothing: one bad one would be a tenth of them."""


class Burn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How fast the budget burns by one rule: at least ``long`` and ``short`` times as fast as it may.

    None where a window holds too few probes, which ``refused`` says. ``fires``: both are at the rule's rate or above.
    """

    rate: float
    severity: Severity
    long: float | None = None
    short: float | None = None
    fires: bool = False
    refused: str | None = None


class SloStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an endpoint keeps its objective at ``at`` (ms since the epoch), as one vantage sees it.

    ``left_low`` and ``left_high`` bound the share of the error budget that is left of the window, below 0 where it is
    overspent; None with fewer than `LEAST_PROBES` probes. ``probes`` is how many there are.
    """

    vantage: str
    endpoint: str
    at: int
    good: str
    target: float
    window: float
    probes: int = 0
    left_low: float | None = None
    left_high: float | None = None
    burns: tuple[Burn, ...] = ()

    @property
    def firing(self) -> Burn | None:
        """The fastest burn that fires."""
        return next((one for one in self.burns if one.fires), None)
