"""The moods panel, made up: how many samples there are in all; pure."""

from tui.endpoint.summary import EndpointSummary
from tui.widgets.plate import Row


def mood_rows(summary: EndpointSummary, width: int, height: int) -> list[Row]:
    """Return a title and a count, in at most ``height`` rows."""
    rows: list[Row] = [(("Moods of the endpoint"[:width], "title"),), ((f"{sum(summary.samples)}"[:width], "figure"),)]
    return rows[:height]
