"""PlotextCanvas: plotext's braille lines; the only module that knows plotext.

Every point is finite and inside 0..1 before plotext sees one: a NaN, or a value far outside the limits, aborts the
process.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from plotext import add_theme, figure, marker, pixel, terminal
from textual.color import Color

from tui.widgets.charts.canvas import Cell, Line

_SGR: Final = re.compile(r"\x1b\[([0-9;]*)m")


class PlotextCanvas:
    """plotext's braille lines without its global figure, axes and terminal: a `tui.widgets.charts.canvas.Canvas`."""

    def __init__(self) -> None:
        own = type(terminal)()
        own.limit(False, False)  # the widget's size counts, not the terminal's
        self._figure: Any = type(figure)(parent=own)
        add_theme("inftop", text=pixel((128, 128, 128)))  # no backgrounds

    def draw(self, lines: Iterable[Line], width: int, height: int) -> list[list[Cell]]:
        """``height`` rows of ``width`` cells; later lines lie on top. Width and height are at least 1."""
        drawing = self._figure
        drawing.clear.data()  # never clear(): that takes the size of the global terminal
        drawing.plot_size(width, height)
        drawing.theme("inftop")
        drawing.axes(False)
        for axis in ("x", "y"):
            drawing.ruler(axis).lim(0, 1).alignment(lim="edge")
            drawing.ruler(axis).frequency(0)
        for color, points in lines:
            dots = marker("braille", pixel=pixel(Color.parse(color).rgb))
            xs, ys = ([min(max(point[side], 0.0), 1.0) for point in points] for side in (0, 1))
            drawing.draw(drawing.signal(xs, ys, marker=dots).lines())
        rows = drawing.build().string().split("\n")
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
