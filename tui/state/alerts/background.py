"""Background: what is usual of endpoints, and when they were in incidents, from the store and as judged now."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from probes.alerts.incident import Incident
from probes.alerts.state import SEVERITY, Metric
from probes.endpoint import Lane
from tui.time.background import IncidentSpan, Usual, UsualBand

if TYPE_CHECKING:  # the first picture has none
    from probes.alerts.detect.baseline import Baseline
    from probes.store.alerts.baselines import BaselineKey


class EndpointBackground(NamedTuple):
    """Of one endpoint: the band of what is usual and what it was made of, by metric; its incidents, oldest first."""

    usual: Mapping[Metric, UsualBand]
    baselines: "Mapping[Metric, Baseline]"
    incidents: tuple[IncidentSpan, ...]


class Background:
    """All that is known; `of` gives the same value again until something is learnt."""

    def __init__(self) -> None:
        self._baselines: Mapping[BaselineKey, Baseline] = {}
        self._incidents: dict[str, Incident] = {}
        self._made: dict[tuple[str, Lane, str | None], EndpointBackground] = {}

    def learn(self, baselines: "Mapping[BaselineKey, Baseline]") -> None:
        """Take these in place of all baselines before."""
        if baselines != self._baselines:
            self._baselines = baselines
            self._made.clear()

    def add(self, incidents: Iterable[Incident]) -> None:
        """Add incidents; of one that is known already the newer is kept."""
        for one in incidents:
            known = self._incidents.get(one.id)
            if known is None or (known != one and one.last_seen_at >= known.last_seen_at):
                self._incidents[one.id] = one
                self._made.clear()

    def of(self, name: str, lane: Lane, vantage: str | None) -> EndpointBackground:
        """What is known of an endpoint's lane, as one vantage saw it or (None) all of them."""
        key = name, lane, vantage
        if key not in self._made:
            self._made[key] = background_of(name, lane, vantage, self._baselines, self._incidents.values())
        return self._made[key]


def background_of(
    name: str,
    lane: str,
    vantage: str | None,
    baselines: "Mapping[BaselineKey, Baseline]",
    incidents: Iterable[Incident],
) -> EndpointBackground:
    """The background of one endpoint's lane. Of several vantages the widest band, and the baseline of most samples."""
    found: dict[Metric, list[Baseline]] = {}
    for (place, endpoint, of, metric), one in baselines.items():
        if endpoint == name and of == lane and vantage in (None, place) and one.p50:
            found.setdefault(metric, []).append(one)
    members = (
        (member, one.severity)
        for one in incidents
        for member in one.members
        if member.endpoint == name and vantage in (None, member.vantage)
    )
    spans = {
        IncidentSpan(member.since, member.until, SEVERITY.get(member.worst, severity)) for member, severity in members
    }
    return EndpointBackground(
        {metric: _widest(several) for metric, several in found.items()},
        {metric: max(several, key=lambda one: one.n) for metric, several in found.items()},
        tuple(sorted(spans, key=lambda one: one.since)),
    )


def _widest(baselines: "Sequence[Baseline]") -> UsualBand:
    """What is usual by several baselines: from the lowest to the highest of all, about the middle one."""
    from probes.alerts.detect.baseline import hour_of_week

    def usual(at: int) -> Usual | None:
        hour = hour_of_week(at)
        middle = sorted(one.p50[hour] for one in baselines)[len(baselines) // 2]
        low, high = min(one.p10[hour] for one in baselines), max(one.p90[hour] for one in baselines)
        return (low, middle, high) if middle > 0 else None

    return UsualBand(usual)
