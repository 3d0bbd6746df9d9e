"""Back-off: how long an endpoint that refused, or flooded us, is left alone."""

import random
from dataclasses import dataclass
from typing import Final

from probes.outcome import INCONCLUSIVE, LIMITED, Outcome
from probes.sample import Sample

BASE_S: Final = 30.0
CAP_S: Final = 15 * 60.0
QUOTA_BASE_S: Final = 15 * 60.0
QUOTA_CAP_S: Final = 6 * 3600.0
ASKED_CAP_S: Final = 25 * 3600.0
"""A wait that was asked for is believed up to a day, and the hour by which some days are longer; whatever takes longer
(a month's credit, a ban) is looked at once a day, for somebody may have paid."""

JITTER: Final = 0.1
JITTER_CAP_S: Final = 300.0
"""What is added to a wait at random, so that many recorders do not come back together: at most a tenth, and this."""

FLOOD_CAP_S: Final = 16 * 60.0
"""The longest that the interval of an endpoint that floods becomes by doubling."""

_BUSY: Final = frozenset({Outcome.OVERLOADED, Outcome.SERVER_ERROR})
"""Failures after which a server may ask to be left alone for a while (RFC 9110 §10.2.3)."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often in a row an endpoint refused, and how often it flooded us since its last good sample."""

    refusals: int = 0
    floods: int = 0

    def after(
        self, sample: Sample, rng: random.Random, interval: float, *, flooded: bool = False, why: str = ""
    ) -> tuple["Backoff", float | None]:
        """The state after a sample, and the seconds to wait before the next probe, or None for no waiting.

        A wait that follows from what the provider said (the sample's ``retry_after_s``) is kept to, else it doubles
        from one refusal to the next; a little is added at random to either. Without credit, which nothing but a payment
        brings back, it is never short, whatever is asked; ``why`` says that something else ends the wait, and when. The
        ``interval`` of an endpoint that ``flooded`` doubles each time, and stays so until a good sample.
        """
        if sample.outcome in INCONCLUSIVE:
            return self, None
        floods = self.floods + 1 if flooded else 0 if sample.outcome is Outcome.OK else self.floods
        asked = sample.retry_after_s
        if sample.outcome in _BUSY and asked is not None and not floods:
            return Backoff(), _jittered(min(asked, CAP_S), rng)
        if sample.outcome not in LIMITED:
            return Backoff(floods=floods), _stretched(interval, floods)
        refusals = self.refusals + 1
        quota = sample.outcome is Outcome.QUOTA
        base, cap = (QUOTA_BASE_S, QUOTA_CAP_S) if quota else (BASE_S, CAP_S)
        wait = min(cap, base * 2.0 ** min(refusals - 1, 16))
        if asked is not None:
            wait = max(asked, wait) if quota and not why else asked
        return Backoff(refusals, floods), _jittered(min(wait, ASKED_CAP_S), rng)


def _jittered(wait: float, rng: random.Random) -> float:
    """A wait, and a little more: never less than what was asked."""
    wait = max(wait, 0.0)
    return wait + rng.uniform(0, min(JITTER * wait, JITTER_CAP_S))


def _stretched(interval: float, floods: int) -> float | None:
    """The seconds to wait so that the interval is doubled for each flood, up to `FLOOD_CAP_S`; None where it stays.

    Half an ordinary interval is left out, so that the due time at the end of the doubled one is not missed.
    """
    doubled = min(interval * 2.0 ** min(floods, 16), FLOOD_CAP_S)
    return doubled - interval / 2 if doubled > interval else None
