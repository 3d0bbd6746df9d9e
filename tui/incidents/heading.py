"""IncidentsHeading: the top line of the page: how many incidents, of which time, which of them are shown."""

from dataclasses import dataclass

from textual.content import Content

from probes.format import since
from probes.text import line
from tui.incidents.listing import Shown
from tui.style.palette import INCIDENT
from tui.time.period import Period, dates
from tui.widgets.one_line import LinePart, OneLine


@dataclass(frozen=True, slots=True)
class Listed:
    """What the list holds: so many of ``total`` incidents, the first of them in place ``first`` from 0, to ``last``.

    Not ``is_all``: there are older ones in this time, which were not read.
    """

    total: int
    shown: int
    open: int
    first: int
    last: int
    is_all: bool = True


class IncidentsHeading(OneLine):
    """The top line."""

    def show(
        self, listed: Listed, period: Period, now: int, shown: Shown, query: str, *, reading: bool, problem: str = ""
    ) -> None:
        """Draw it; ``reading``: a person waits for what is being read. ``problem``: why nothing is stored now."""
        live = [LinePart(Content.assemble(("●", "$success"), " live"), 3)] if period.live else []
        if problem:
            live.insert(0, LinePart(Content.styled(f"✕ not stored: {line(problem, 60)}", "bold $error"), 1))
        self.parts(_left(listed, period, now, shown, query, reading=reading), live)


def _left(listed: Listed, period: Period, now: int, shown: Shown, query: str, *, reading: bool) -> list[LinePart]:
    span = period.span(now)
    when, past = dates(span.since, span.until, now), "bold $background on $accent"
    parts = [LinePart(Content.styled("incidents", "bold $primary"), 1)]
    if not period.live:
        parts.insert(0, LinePart(Content.styled(f" PAST {when} · {since(span.until, now)} ago ", past), 0))
        parts.insert(1, LinePart(Content.styled(" Home: back to now ", past), 1))
    look = "bold $error" if listed.open else "$text-muted"
    parts.append(LinePart(Content.styled(f"{INCIDENT} {listed.open} open", look), 1))
    of = "" if listed.is_all else "the newest "
    parts.append(LinePart(Content.assemble(f"{of}{listed.total:,} in ", (period.words, "bold")), 2))
    if not listed.is_all:
        parts.append(LinePart(Content.styled("older ones: a shorter window, or an earlier one", "$warning"), 3))
    if period.live:
        parts.append(LinePart(Content(when), 4))
    if listed.shown > listed.last - listed.first:
        parts.append(LinePart(Content(f"{listed.first + 1:,}–{listed.last:,} of {listed.shown:,}"), 3))
    if shown != "all":
        parts.append(LinePart(Content.styled(f"{shown} only", "bold $accent"), 2))
    if query:
        parts.append(LinePart(Content.styled(f"/{query}", "bold $accent"), 2))
    if reading:
        parts.append(LinePart(Content.styled("◌ reading", "$text-muted"), 5))
    return parts
