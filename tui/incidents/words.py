"""What stands on the page of an incident in words: how long it lasted, how bad it was against the usual; pure."""

from datetime import tzinfo

from probes.alerts.incident import Incident, Member
from probes.alerts.state import WORST_FIRST, Judgement, State
from probes.format import plural, span
from tui.state.alerts.usual import ratio_words, slowness_words


def lasted(incident: Incident, now: int) -> str:
    """From its first failed probe to its end, or to now."""
    return span((incident.resolved_at or now) - incident.first_failure_at)


def lost(incident: Incident) -> int:
    """How many probes failed in it."""
    return sum(one.lost for one in incident.members)


def worst_value(incident: Incident) -> str:
    """How bad it was at worst, in one figure: ``1.9×`` where it was slow, else ``43 lost``; "" where unknown."""
    slowest = max((one.ratio for one in incident.members if one.ratio is not None), default=None)
    if slowest is not None and incident.worst is State.SLOW:
        return ratio_words(slowest)
    count = lost(incident)
    return f"{count:,} lost" if count else "" if slowest is None else ratio_words(slowest)


def counted(incident: Incident) -> str:
    """Its endpoints and lost probes: ``7 endpoints, 43 probes lost``."""
    names = {one.endpoint for one in incident.members}
    words = [plural(len(names), "endpoint")]
    if count := lost(incident):
        words.append(f"{plural(count, 'probe')} lost")
    return ", ".join(words)


def slowness(member: Member, worst: float | None = None, zone: tzinfo | None = None) -> str:
    """How slow it was at worst, at the hour when that began; "" where it was not.

    ``worst`` is the ratio that its last 28 days passed at most once, None where that is not known.
    """
    if member.ratio is None or member.metric is None:
        return ""
    return slowness_words(
        ratio=member.ratio,
        metric=member.metric,
        value=member.value,
        usual=member.usual,
        worst=worst,
        at=member.since,
        zone=zone,
    )


def worst_members(incident: Incident) -> tuple[Member, ...]:
    """Its members, those first that are not well yet, and of these the worst."""
    return tuple(
        sorted(
            incident.members,
            key=lambda one: (one.until is not None, WORST_FIRST.index(one.worst), one.since, one.endpoint),
        )
    )


def past_worst(judgements: tuple[Judgement, ...], member: Member) -> float | None:
    """The ratio that a member's own last 28 days passed at most once, as far as it is judged now."""
    own = (member.endpoint, member.vantage, member.lane)
    return next((one.worst for one in judgements if (one.endpoint, one.vantage, one.lane) == own), None)
