"""What endpoints really use where that is more than they may: what is set aside for their next probes; pure.

Some servers heed no cap on tokens, or put more around a prompt than any estimate allows for. Nobody can know that
before the first answer; after it, nothing less than what was seen is set aside.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from probes.budget.charge import Spent, charge, highest_charge
from probes.endpoint import Endpoint
from probes.sample import Sample

MARGIN: Final = 1.25
"""By so much more than what was seen is set aside: answers to one prompt differ in length."""

LATELY_MS: Final = 86_400_000
"""So long after the last overrun it is forgotten: a server may have been mended, and one probe a day finds out."""

RENEWED_MS: Final = 3_600_000
"""An overrun that tells nothing new is noted so often, so that it is not forgotten while there are more."""


class Overrun(NamedTuple):
    """The most that a probe of an endpoint has counted for lately, and when it last was more than it might (ms)."""

    at_ms: int
    most: Spent


@dataclass(frozen=True, slots=True)
class Overruns:
    """The overruns of endpoints, by their name."""

    seen: Mapping[str, Overrun] = field(default_factory=dict)

    def note(self, sample: Sample, endpoint: Endpoint) -> "Overruns":
        """With what a sample counted for, where that is more than its endpoint's configuration allows for."""
        used, expected = charge(sample, endpoint), highest_charge(endpoint)
        if used.tokens <= expected.tokens and used.usd <= expected.usd:
            return self
        before = self.seen.get(endpoint.name)
        if before is not None and (age_ms := abs(sample.started_at - before.at_ms)) < LATELY_MS:
            used = Spent(max(used.usd, before.most.usd), max(used.tokens, before.most.tokens))
            if used == before.most and age_ms < RENEWED_MS:
                return self
        return Overruns({**self.seen, endpoint.name: Overrun(sample.started_at, used)})

    def keep(self, names: Collection[str]) -> "Overruns":
        """Only those of the endpoints of these names."""
        return Overruns({name: one for name, one in self.seen.items() if name in names})

    def highest_charge(self, endpoint: Endpoint, at_ms: int) -> Spent:
        """The most that a probe of an endpoint is to be expected to count for, at an instant (ms since the epoch)."""
        expected, overrun = highest_charge(endpoint), self.seen.get(endpoint.name)
        if overrun is None or abs(at_ms - overrun.at_ms) >= LATELY_MS:
            return expected
        return Spent(
            max(expected.usd, MARGIN * overrun.most.usd),
            max(expected.tokens, math.ceil(MARGIN * overrun.most.tokens)),
        )
