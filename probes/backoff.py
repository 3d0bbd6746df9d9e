"""Back-off: how long an endpoint that refused is left alone."""

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


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often in a row an endpoint refused."""

    refusals: int = 0

    def after(self, sample: Sample, rng: random.Random) -> tuple["Backoff", float | None]:
        """The state after a sample, and the seconds to wait before the next probe, or None for no waiting.

        A wait the provider asked for is kept to; else it is exponential with full jitter (a random part of the
        doubled ceiling, so that many recorders do not come back together), quota waiting far longer.
        """
        if sample.outcome in INCONCLUSIVE:
            return self, None
        if sample.outcome not in LIMITED:
            return Backoff(), None
        refusals = self.refusals + 1
        if sample.retry_after_s is not None:
            return Backoff(refusals), min(max(sample.retry_after_s, 0.0), ASKED_CAP_S)
        quota = sample.outcome is Outcome.QUOTA
        base, cap = (QUOTA_BASE_S, QUOTA_CAP_S) if quota else (BASE_S, CAP_S)
        ceiling = min(cap, base * 2.0 ** min(refusals - 1, 16))
        return Backoff(refusals), rng.uniform(0, ceiling)
