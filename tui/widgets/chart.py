"""Chart: lines over time with axes, failures marked and gaps left open; the only module that knows plotext.

plotext draws nothing but the lines, on a canvas of the unit square: every point is finite and inside 0..1
before it sees one (a NaN, or a value far outside the limits, aborts the process). The rest is drawn here.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.axis import LOG_RATIO, ValueAxis, value_axis, value_label
from tui.widgets.series import Point, Series, clean, column_of, runs, thin
from tui.widgets.spark import CHANGE
from tui.widgets.time_axis import time_rows

if TYPE_CHECKING:
    from textual.timer import Timer

REDRAW_S: Final = 1.0
"""Shortest time between two drawings of new data; a new size is drawn at once."""

REST_FACTOR: Final = 30
"""A chart waits this many times as long as its last drawing took: it never takes over 1/30 of a core."""

_SGR: Final = re.compile(r"\x1b\[([0-9;]*)m")
_TAG_COLUMNS: Final = 4
_FADED: Final = 0.45

Line = tuple[str, Sequence[tuple[float, float]]]
"""A ``#rrggbb`` colour and the points of one unbroken line, both coordinates in 0..1."""

Cell = tuple[str, str | None]
"""A character and its ``#rrggbb`` colour, None for the widget's own."""


class Canvas:
    """plotext's braille lines without its global figure, axes and terminal; loads plotext when first used."""

    def __init__(self) -> None:
        self._figure: Any = None

    def load(self) -> None:
        """Load plotext; takes 0.2 s the first time."""
        import plotext

        if self._figure is None:
            terminal = type(plotext.terminal)()
            terminal.limit(False, False)  # the widget's size counts, not the terminal's
            self._figure = type(plotext.figure)(parent=terminal)
            plotext.add_theme("inftop", text=plotext.pixel((128, 128, 128)))  # no backgrounds

    def draw(self, lines: Iterable[Line], width: int, height: int) -> list[list[Cell]]:
        """``height`` rows of ``width`` cells; later lines lie on top. Width and height are at least 1."""
        import plotext

        self.load()
        figure = self._figure
        figure.clear.data()  # never figure.clear(): that takes the size of the global terminal
        figure.plot_size(width, height)
        figure.theme("inftop")
        figure.axes(False)
        for axis in ("x", "y"):
            figure.ruler(axis).lim(0, 1).alignment(lim="edge")
            figure.ruler(axis).frequency(0)
        for color, points in lines:
            pixel = plotext.pixel(Color.parse(color).rgb)
            xs, ys = ([min(max(point[side], 0.0), 1.0) for point in points] for side in (0, 1))
            figure.draw(figure.signal(xs, ys, marker=plotext.marker("braille", pixel=pixel)).lines())
        rows = figure.build().string().split("\n")
        return [_cells(rows[row] if row < len(rows) else "", width) for row in range(height)]


def _cells(row: str, width: int) -> list[Cell]:
    """One row of plotext's output as exactly ``width`` cells; it colours by ``38;2;r;g;b`` only."""
    cells: list[Cell] = []
    color: str | None = None
    parts = _SGR.split(row)
    for text, codes in zip(parts[::2], [*parts[1::2], ""], strict=True):
        cells += [(char, None if char == " " else color) for char in text]
        numbers = codes.split(";")
        color = "#{:02x}{:02x}{:02x}".format(*map(int, numbers[2:5])) if numbers[:2] == ["38", "2"] else None
    return cells[:width] + [(" ", None)] * (width - len(cells))


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """Everything a chart shows.

    Instants are milliseconds since the epoch. The value axis ends at or above ``least_high``; with ``may_log``
    it is logarithmic where the medians of its series are more than ``log_from`` times apart. The instants ``marked_at``
    get a mark on the time axis.
    """

    title: str
    series: tuple[Series, ...]
    since: int
    until: int
    least_high: float = 1.0
    may_log: bool = False
    note: str = ""
    marked_at: tuple[int, ...] = ()
    log_from: float = LOG_RATIO


@dataclass(frozen=True, slots=True)
class ChartFrame:
    """The parts of a chart of one size: columns and rows of its plot, the width of the labels left of it."""

    columns: int
    rows: int
    labels: int


def frame(width: int, height: int, labels: int) -> ChartFrame | None:
    """The parts of a chart of this size in cells: title, plot, axis, times; None where it is too small for a plot."""
    columns, rows = width - labels - 1 - _TAG_COLUMNS, height - 3
    return ChartFrame(columns, rows, labels) if columns >= 8 and rows >= 2 else None


def drawing(plot: Plot, canvas: Canvas, width: int, height: int, background: str) -> list[list[Cell]]:
    """``height`` rows of ``width`` cells showing the plot; only its title where there is no room for more.

    Other lines fade towards ``background`` (``#rrggbb``) where one is selected.
    """
    points = {one.tag: clean(one.points, plot.since, plot.until) for one in plot.series}
    values = [[point.value for point in line if point.value is not None] for line in points.values()]
    axis = value_axis(values, plot.least_high, plot.may_log, plot.log_from)
    ticks = axis.ticks(max(2, min(6, (height - 3) // 2)))
    box = frame(width, height, max(len(value_label(one)) for one in ticks))
    title = _title(plot, axis, max((max(one) for one in values if one), default=None), width)
    if box is None or plot.until <= plot.since:
        return [title, *[_blank(width)] * (height - 1)][:height]
    chosen = any(one.selected for one in plot.series)
    lines: list[Line] = []
    for one in sorted(plot.series, key=lambda one: one.selected):
        color = one.color if one.selected or not chosen else faded(one.color, background)
        thinned = thin(points[one.tag], plot.since, plot.until, box.columns, one.worst)
        placed = ([(_across(at, plot), axis.place(value)) for at, value in run] for run in runs(thinned))
        lines += ((color, run) for run in placed)
    rows = canvas.draw(lines, box.columns, box.rows)
    _mark(rows, plot, points, axis)
    tags = _tags(plot, points, axis, box.rows)
    left = _value_labels(ticks, axis, box)
    body = [left[row] + rows[row] + tags[row] for row in range(box.rows)]
    return [title, *body, *_time_labels(plot, box, width)]


def faded(color: str, background: str) -> str:
    """A colour nearer to the background, for what is not selected."""
    return Color.parse(color).blend(Color.parse(background), _FADED).hex.lower()


def _across(at: int, plot: Plot) -> float:
    return (at - plot.since) / (plot.until - plot.since)


def _row_of(value: float, axis: ValueAxis, rows: int) -> int:
    return min(int((1 - axis.place(value)) * rows), rows - 1)


def _blank(width: int) -> list[Cell]:
    return [(" ", None)] * width


def _written(text: str, width: int, color: str | None = None) -> list[Cell]:
    """Text of single-width characters in exactly ``width`` cells."""
    return [(char, color) for char in text[:width].ljust(width)]


def _title(plot: Plot, axis: ValueAxis, highest: float | None, width: int) -> list[Cell]:
    notes = [plot.note] if plot.note else []
    if axis.log:
        notes.append("log scale")
    if highest is not None and highest > axis.high:
        notes.append(f"▲ up to {value_label(highest)}")
    title = " · ".join([plot.title, *notes])
    selected = next((one for one in plot.series if one.selected), None)
    name = f"{selected.tag} {selected.name}" if selected else ""
    cells = _written(title, width)
    # a name with wide characters would not fill as many cells as it has characters
    if selected and cell_len(name) == len(name) and len(title) + len(name) + 2 <= width:
        cells[width - len(name) :] = [(char, selected.color) for char in name]
    return cells


def _mark(rows: list[list[Cell]], plot: Plot, points: dict[str, list[Point]], axis: ValueAxis) -> None:
    """Failed probes as × on the lowest row, values above the axis as ▲ on the highest."""
    width = len(rows[0])
    for one in sorted(plot.series, key=lambda one: one.selected):
        for at in one.failed:
            if plot.since <= at <= plot.until:
                rows[-1][column_of(at, plot.since, plot.until, width)] = ("×", one.color)
        for at, value in points[one.tag]:
            if value is not None and value > axis.high:
                rows[0][column_of(at, plot.since, plot.until, width)] = ("▲", one.color)


def _tags(plot: Plot, points: dict[str, list[Point]], axis: ValueAxis, rows: int) -> list[list[Cell]]:
    """The letters of the lines, right of the plot at the height of their last values; the selected first."""
    tags: list[list[Cell]] = [[(" ", None)] for _ in range(rows)]
    for one in sorted(plot.series, key=lambda one: not one.selected):
        last = next((point.value for point in reversed(points[one.tag]) if point.value is not None), None)
        if last is not None:
            tags[_row_of(last, axis, rows)] += [(char, one.color) for char in one.tag]
    cut = [row if len(row) <= _TAG_COLUMNS else [*row[: _TAG_COLUMNS - 1], ("+", None)] for row in tags]
    return [row + _blank(_TAG_COLUMNS - len(row)) for row in cut]


def _value_labels(ticks: Iterable[float], axis: ValueAxis, box: ChartFrame) -> list[list[Cell]]:
    labels = {_row_of(one, axis, box.rows): value_label(one) for one in ticks}
    return [
        _written(labels.get(row, "").rjust(box.labels) + ("┤" if row in labels else "│"), box.labels + 1)
        for row in range(box.rows)
    ]


def _time_labels(plot: Plot, box: ChartFrame, width: int) -> list[list[Cell]]:
    """The axis below the plot and the times below it, each under its tick and inside the box."""
    axis, times = time_rows(plot.since, plot.until, box.columns)
    line = list(axis)
    for at in plot.marked_at:
        if plot.since <= at <= plot.until:
            line[column_of(at, plot.since, plot.until, box.columns)] = CHANGE
    indent = " " * box.labels
    return [_written(indent + "└" + "".join(line), width), _written(f"{indent} {times}", width)]


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
        rows = drawing(self._plot, self._canvas, size.width, size.height, background)
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
            segments.append(Segment(text, base + (Style(color=held) if held else plain)))
            text = ""
        held = color
        text += char
    if text:
        segments.append(Segment(text, base + (Style(color=held) if held else plain)))
    return Strip(segments, len(row))
