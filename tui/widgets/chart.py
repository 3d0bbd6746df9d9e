"""Chart: a plot as a widget, drawn when it is looked at and at most once a second for new data."""

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.canvas import Canvas, Cell
from tui.widgets.plot import Plot, drawing

if TYPE_CHECKING:
    from textual.timer import Timer

REDRAW_S: Final = 1.0
"""Shortest time between two drawings of new data; a new size is drawn at once."""

REST_FACTOR: Final = 30
"""A chart waits this many times as long as its last drawing took: it never takes over 1/30 of a core."""


class Chart(Widget):
    """A `Plot`, drawn when it is looked at: at most once a second for new data, at once for a new size."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"chart--title", "chart--axis"}
    DEFAULT_CSS = """
    Chart {
        height: 1fr;
        .chart--title { text-style: bold; }
        .chart--axis { color: $text-muted; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name for it
        super().__init__(id=id)
        self.drawn = 0
        self._canvas = Canvas()
        self._plot: Plot | None = None
        self._strips: list[Strip] = []
        self._strips_of: tuple[object, ...] | None = None
        self._rest_until = 0.0
        self._due: Timer | None = None

    def show(self, plot: Plot, *, at_once: bool = False) -> None:
        """Show this plot, now or once the chart's pause is over; ``at_once``: a person asked for it and waits."""
        self._plot = plot
        rest = 0.0 if at_once else self._rest_until - monotonic()
        if rest <= 0:
            self._redraw()
        elif self._due is None:
            self._due = self.set_timer(rest, self._redraw)

    def _redraw(self) -> None:
        if self._due is not None:
            self._due.stop()
            self._due = None
        self._strips_of = None
        self.refresh()

    def notify_style_update(self) -> None:
        """Colours changed: the drawing is made anew."""
        self._strips_of = None
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One row of the drawing; the first row asked for after a change draws them all."""
        if self._strips_of != (self.size,):
            self._draw(self.size)
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width, self.rich_style)

    def _draw(self, size: Size) -> None:
        self._strips_of = (size,)
        if self._plot is None or not size.width or not size.height:
            self._strips = []
            return
        self.drawn += 1
        self._canvas.load()  # not part of what a drawing costs
        started = monotonic()
        background = self.background_colors[1].hex6
        rows = drawing(self._plot, self._canvas, size.width, size.height, background).rows
        base, title = self.rich_style, self.get_component_rich_style("chart--title")
        axis = self.get_component_rich_style("chart--axis")
        self._strips = [_strip(row, base, title if y == 0 else axis) for y, row in enumerate(rows)]
        self._rest_until = monotonic() + max(REDRAW_S, REST_FACTOR * (monotonic() - started))


def _strip(row: Sequence[Cell], base: Style, plain: Style) -> Strip:
    """The cells as segments, neighbours of one colour together."""
    segments: list[Segment] = []
    text, held = "", None
    for char, color in row:
        if color != held and text:
            segments.append(Segment(text, base + (Style.parse(held) if held else plain)))
            text = ""
        held = color
        text += char
    if text:
        segments.append(Segment(text, base + (Style.parse(held) if held else plain)))
    return Strip(segments, len(row))
