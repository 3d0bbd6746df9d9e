"""What alerts ask of an engine, and the endpoints that an incident may be of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from probes.alerts.watched import WatchedEndpoint
from probes.endpoint import Endpoint, lanes_of
from probes.feed.messages import EndpointFacts, EngineStatus, MonitorStatus
from probes.sample import Sample
from probes.supervision import Supervisor


class Monitor(Protocol):
    """What is asked of an endpoint's monitor."""

    endpoint: Endpoint

    @property
    def status(self) -> MonitorStatus:
        """The endpoint's schedule now."""

    def confirm(self, is_wanted: Callable[[], bool]) -> None:
        """Probe again soon, to tell whether a probe that has just failed was a blip."""


class WatchedEngine(Protocol):
    """What is asked of the engine."""

    supervisor: Supervisor

    @property
    def endpoints(self) -> Sequence[Endpoint]:
        """The endpoints that are configured."""

    @property
    def monitors(self) -> Mapping[str, Monitor]:
        """The monitors of the endpoints that are probed, by name."""

    @property
    def status(self) -> EngineStatus:
        """The engine now."""

    def on_sample(self, listener: Callable[[Sample, str], None]) -> None:
        """Call ``listener`` with every sample from now on."""

    def on_endpoints(self, listener: Callable[[Sequence[Endpoint]], None]) -> None:
        """Call ``listener`` with all endpoints whenever they are configured anew."""


def watched_endpoints(
    monitors: Mapping[str, Monitor], elsewhere: Iterable[EndpointFacts], *, enabled: bool
) -> dict[str, WatchedEndpoint]:
    """All endpoints that an incident may be of, those that are only probed ``elsewhere`` among them, by name."""
    found = {one.name: _elsewhere(one) for one in elsewhere}
    for name, monitor in monitors.items():
        one, why = monitor.endpoint, None
        if not enabled:
            why = "alerts are switched off"
        elif not one.alerts:
            why = "its alerts are switched off"
        elif monitor.status.paused and name not in found:
            why = "paused"
        lanes = lanes_of(one.connection)
        found[name] = WatchedEndpoint(name, one.provider, one.model, one.group or "", one.interval, lanes, why)
    return found


def _elsewhere(facts: EndpointFacts) -> WatchedEndpoint:
    """An endpoint that a recorder of another place probes."""
    why = None if facts.enabled else "switched off"
    lanes, group = lanes_of(facts.connection), facts.group or ""
    return WatchedEndpoint(facts.name, facts.provider, facts.model, group, facts.interval, lanes, why)
