"""CompareHeading: the compare page's top line: how many contenders, which period, and whether it is live."""

from collections.abc import Sequence

from textual.content import Content

from probes.format import since
from tui.compare.contender import MOST, Contender
from tui.time.period import Period, dates
from tui.widgets.one_line import LinePart, OneLine


class CompareHeading(OneLine):
    """The top line."""

    def show(self, contenders: Sequence[Contender], period: Period, now: int, *, reading: bool) -> None:
        """Draw it; ``reading``: a person waits for what is being read."""
        live = [LinePart(Content.assemble(("●", "$success"), " live"), 3)] if period.live else []
        self.parts(_left(contenders, period, now, reading=reading), live)


def _left(contenders: Sequence[Contender], period: Period, now: int, *, reading: bool) -> list[LinePart]:
    span = period.span(now)
    when, past = dates(span.since, span.until, now), "bold $background on $accent"
    parts = [LinePart(Content.styled("compare", "bold $primary"), 1)]
    if not period.live:
        parts.insert(0, LinePart(Content.styled(f" PAST {when} · {since(span.until, now)} ago ", past), 0))
        parts.insert(1, LinePart(Content.styled(" Home: back to now ", past), 1))
    what = "places, " if any(one.vantage is not None for one in contenders) else ""
    parts.append(LinePart(Content(f"{what}{len(contenders)} of up to {MOST}"), 4))
    parts.append(LinePart(Content.assemble(("window ", "$text-muted"), (period.words, "bold")), 2))
    if period.live:
        parts.append(LinePart(Content(when), 3))
    if reading:
        parts.append(LinePart(Content.styled("◌ reading", "$text-muted"), 5))
    return parts
