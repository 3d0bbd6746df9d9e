"""Incidents read from the store, and what people do to them written there; every function may wait."""

from contextlib import closing
from dataclasses import dataclass
from typing import Final

from probes.alerts.incident import IncidentEvent
from probes.store.alerts.incidents import read_events, read_incidents
from probes.store.read.reader import StoreReader
from tui.incidents.listing import Entry

MOST: Final = 20_000
"""So many incidents are read, the newest: a list of more says so."""


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """The incidents of a span of time (ms since the epoch); ``turn`` tells one reading of it from the next."""

    since: int
    until: int
    turn: int = 0


@dataclass(frozen=True, slots=True)
class EventsQuestion:
    """What happened in an incident; ``turn`` is another one where it may be more than before."""

    incident: str
    turn: object = None


def read_list(url: str, question: ListQuestion) -> tuple[Entry, ...]:
    """The incidents of a span, the newest first. Raises StoreProblem."""
    with closing(StoreReader(url)) as reader:
        found = read_incidents(reader, question.since, question.until, limit=MOST)
    return tuple(map(Entry.of, found))


def read_time_line(url: str, question: EventsQuestion) -> tuple[IncidentEvent, ...]:
    """What happened in an incident, oldest first. Raises StoreProblem."""
    with closing(StoreReader(url)) as reader:
        return tuple(read_events(reader, question.incident))
