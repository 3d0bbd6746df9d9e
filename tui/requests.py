"""What a page asks of the app, as messages: another page, an export, more of the past."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from probes.feed.messages import EndpointFacts
from tui.time.period import Period

if TYPE_CHECKING:  # the first picture exports nothing
    from probes.alerts.incident import Incident
    from probes.exports.selection import Selection


class WindowChosen(Message):
    """The dashboard shows a window that may reach further back than what is loaded."""


class ExportRequested(Message):
    """The samples of a selection are wanted in a file, named after the moment ``at_ms`` (ms since the epoch)."""

    def __init__(self, selection: "Selection", at_ms: int) -> None:
        super().__init__()
        self.selection = selection
        self.at_ms = at_ms


class RaceRequested(Message):
    """The race page is wanted with these lanes; None: the dashboard's selected endpoint and its best rival."""

    def __init__(self, lanes: Sequence[str] | None = None) -> None:
        super().__init__()
        self.lanes = lanes


class EndpointRequested(Message):
    """The page of the endpoint ``name`` is wanted, over a period; its keys go through all of ``endpoints``."""

    def __init__(self, name: str, period: Period, endpoints: Sequence[EndpointFacts]) -> None:
        super().__init__()
        self.name = name
        self.period = period
        self.endpoints = endpoints


class EditRequested(Message):
    """The form of the endpoint ``name`` is wanted."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class IncidentsRequested(Message):
    """The page of incidents is wanted; with only those of one endpoint where it has a name."""

    def __init__(self, endpoint: str = "") -> None:
        super().__init__()
        self.endpoint = endpoint


class EvidenceRequested(Message):
    """What is known of an incident is wanted in a file."""

    def __init__(self, incident: "Incident") -> None:
        super().__init__()
        self.incident = incident


class CompareRequested(Message):
    """The comparison is wanted, of the dashboard's selected endpoint with others."""
