"""Served: who really answered the probes of an endpoint, and the moments at which that changed; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from probes.sample import Sample

WORDS: Final = ("model", "tier", "upstream", "build")
"""What `Seen` tells, in the order of its fields after the instant."""

SAME_TIERS: Final = frozenset({("fast", "priority")})
"""Two names, asked and served, of one tier: OpenAI reports the fast tier of some models as priority."""

NO_TIER: Final = "auto"
"""Asked for, it leaves the tier to the provider."""


class Seen(NamedTuple):
    """What one response said of who served it; ``at`` is ms since the epoch, None is not known."""

    at: int
    model: str | None = None
    tier: str | None = None
    by: str | None = None
    fingerprint: str | None = None

    @classmethod
    def of(cls, sample: Sample) -> "Seen | None":
        """What a sample says; None where it says nothing."""
        words = (sample.served_model, sample.served_tier, sample.served_by, sample.served_fingerprint)
        return cls(sample.started_at, *words) if any(words) else None


@dataclass(frozen=True, slots=True)
class Change:
    """From one probe to the next, the one ``at`` (ms since the epoch), another ``word`` of `WORDS` was served."""

    at: int
    word: str
    before: str
    after: str


def changes(seen: Iterable[Seen]) -> list[Change]:
    """The changes in what one endpoint served, which comes oldest first. What is not known is never a change."""
    found: list[Change] = []
    held: list[str | None] = [None] * len(WORDS)
    for at, *said in seen:
        if said == held:
            continue
        for place, after in enumerate(said):
            before = held[place]
            if after is not None:
                held[place] = after
                if before is not None and before != after:
                    found.append(Change(at, WORDS[place], before, after))
    return found


def tier_of(seen: Iterable[Seen]) -> str | None:
    """The tier served last, of responses oldest first; None where none was told."""
    return next((one.tier for one in reversed([*seen]) if one.tier), None)


def other_tier(asked: str | None, served: str | None) -> bool:
    """Whether a tier was served that is not the one asked for; not where either is unknown."""
    if not asked or not served:
        return False
    asked, served = asked.lower(), served.lower()
    return asked not in (served, NO_TIER) and (asked, served) not in SAME_TIERS
