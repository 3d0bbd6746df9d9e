"""How long before a provider's first post we saw its trouble: per incident, and as a median per provider; pure."""

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Final, NamedTuple

from probes.alerts.incident import Incident
from probes.alerts.state import State
from probes.status_pages.post import Post

BEFORE_MS: Final = 3_600_000
"""How long before our first failure a post of the same trouble may have been made."""

AFTER_MS: Final = 7_200_000
"""How long after the end of an incident it may be posted late."""

_THEIRS: Final = frozenset({State.DOWN, State.FAILING, State.SILENT, State.SLOW})
"""What a status page may be expected to tell of; our own quota and limits are none of its business."""


class LeadTimes(NamedTuple):
    """Of a provider: how many ``incidents`` we saw, of how many it ``posted`` anything, and the median of those.

    ``median_ms`` is over 0 where we saw the first failure before the first post; None where nothing was posted.
    """

    provider: str
    incidents: int
    posted: int
    median_ms: int | None


def providers_of(incident: Incident) -> frozenset[str]:
    """Whose status pages may tell of an incident: nobody's where the fault is in our own network."""
    if incident.cause.culprit == "network" or incident.worst not in _THEIRS:
        return frozenset()
    return frozenset(one.provider for one in incident.members if one.provider)


def posts_about(incident: Incident, posts: Iterable[Post], now: int) -> tuple[Post, ...]:
    """The posts, of its providers' pages, that may be about an incident, oldest first.

    Those are all posts of what was first posted at the time of the incident: time alone tells, for a page does not say
    which of a provider's endpoints it means. ``now`` is in ms since the epoch.
    """
    about: dict[tuple[str, str], list[Post]] = {}
    for post in posts:
        about.setdefault((post.page, post.incident), []).append(post)
    begin = incident.first_failure_at - BEFORE_MS
    end = (now if incident.resolved_at is None else incident.resolved_at) + AFTER_MS
    found = [
        post
        for group in about.values()
        if any(post.is_trouble for post in group) and begin <= min(post.at for post in group) <= end
        for post in group
    ]
    return tuple(sorted(found, key=lambda post: (post.at, post.id)))


def lead_ms(incident: Incident, posts: Iterable[Post], now: int) -> int | None:
    """How long (ms) after our first failure the first post about an incident came; under 0: before it.

    None where there is none.
    """
    found = posts_about(incident, posts, now)
    return found[0].at - incident.first_failure_at if found else None


def lead_times(
    incidents: Sequence[Incident], posts_of: Callable[[str], Iterable[Post]], now: int
) -> tuple[LeadTimes, ...]:
    """The lead times of every provider that a page might have told of, by name; ``posts_of`` has a provider's posts."""
    leads: dict[str, list[int | None]] = {}
    for incident in incidents:
        for provider in providers_of(incident):
            leads.setdefault(provider, []).append(lead_ms(incident, posts_of(provider), now))
    return tuple(_of(provider, found) for provider, found in sorted(leads.items()))


def _of(provider: str, leads: Sequence[int | None]) -> LeadTimes:
    posted = [one for one in leads if one is not None]
    return LeadTimes(provider, len(leads), len(posted), round(median(posted)) if posted else None)
