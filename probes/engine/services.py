"""The engine's services to what starts probes (endpoint monitors and races), as protocols."""

from collections.abc import Collection
from typing import Protocol

from probes.endpoint import Endpoint
from probes.engine.spending import Reservation
from probes.feed.messages import MonitorStatus
from probes.measure.probe import Prober, ProbeResult
from probes.sample import Sample
from probes.wire.credentials import Credentials


class ProbeServices(Protocol):
    """What sending a probe takes: the endpoint's credentials, a prober, and room in the day's budget."""

    async def find_credentials(self, endpoint: Endpoint) -> Credentials | None:
        """The credentials of an endpoint's requests; None where they need none. Raises KeyMissing."""

    def budget_refusal(self, *endpoints: Endpoint) -> str | None:
        """Why one probe of each of these must not be sent now; None while the day's budget has room for them."""

    def reserve_budget(self, endpoint: Endpoint) -> Reservation:
        """Set aside what a probe may cost at most, to be released once its cost is recorded."""

    def make_prober(self, endpoint: Endpoint) -> Prober:
        """A prober of an endpoint. Raises ConfigError and ValueError where a file that it needs cannot be used."""

    def record_cost(self, sample: Sample, endpoint: Endpoint) -> None:
        """Count what a sample of an endpoint cost; keys that were refused are looked up anew."""


class MonitorServices(ProbeServices, Protocol):
    """What an `EndpointMonitor` asks of its engine and reports to it. Reports never raise."""

    def deliver(self, sample: Sample, answer: str, endpoint: Endpoint) -> None:
        """Store a sample with the text of its answer, and pass it to the engine's listeners.

        ``endpoint`` is as it was when the probe began: the configuration may have changed since.
        """

    def status_changed(self, status: MonitorStatus) -> None:
        """Pass a monitor's new status to the engine's listeners."""

    def probe_finished(self, result: ProbeResult) -> None:
        """Pass a scheduled probe's result to the engine's listeners."""


class RaceServices(ProbeServices, Protocol):
    """What races need of an engine."""

    def suspend_for_race(self, lanes: Collection[str]) -> None:
        """Suspend scheduled probes of the endpoints of these names, and of no other; () resumes all."""
