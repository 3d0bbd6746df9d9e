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
ASKED_CAP_S: Final = 24 * 3600.0
"""A Retry-After is believed up to a day; Groq's daily buckets ask for hours."""

FLOOD_CAP_S: Final = 16 * 60.0
"""The longest that the interval of an endpoint that floods becomes by doubling."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often in a row an endpoint refused, and how often it flooded us since its last good sample."""

    refusals: int = 0
    floods: int = 0

    def after(
        self, sample: Sample, rng: random.Random, interval: float, *, flooded: bool = False
    ) -> tuple["Backoff", float | None]:
        """The state after a sample, and the seconds to wait before the next probe, or None for no waiting.

        A wait the provider asked for is kept to; else it is exponential with full jitter (a random part of the
        doubled ceiling, so that many recorders do not come back together), quota waiting far longer. The ``interval``
        of an endpoint that ``flooded`` doubles each time, and stays so until a good sample.
        """
        if sample.outcome in INCONCLUSIVE:
            return self, None
        floods = self.floods + 1 if flooded else 0 if sample.outcome is Outcome.OK else self.floods
        if sample.outcome not in LIMITED:
            return Backoff(floods=floods), _stretched(interval, floods)
        refusals = self.refusals + 1
        if sample.retry_after_s is not None:
            return Backoff(refusals, floods), min(max(sample.retry_after_s, 0.0), ASKED_CAP_S)
        quota = sample.outcome is Outcome.QUOTA
        base, cap = (QUOTA_BASE_S, QUOTA_CAP_S) if quota else (BASE_S, CAP_S)
        ceiling = min(cap, base * 2.0 ** min(refusals - 1, 16))
        return Backoff(refusals, floods), rng.uniform(0, ceiling)


def _stretched(interval: float, floods: int) -> float | None:
    """The seconds to wait so that the interval is doubled for each flood, up to `FLOOD_CAP_S`; None where it stays.

    Half an ordinary interval is left out, so that the due time at the end of the doubled one is not missed.
    """
    doubled = min(interval * 2.0 ** min(floods, 16), FLOOD_CAP_S)
    return doubled - interval / 2 if doubled > interval else None
