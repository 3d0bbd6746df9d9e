"""Canvas: braille lines on the unit square; the only module that knows plotext.

Every point is finite and inside 0..1 before plotext sees one: a NaN, or a value far outside the limits, aborts the
process.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from textual.color import Color

_SGR: Final = re.compile(r"\x1b\[([0-9;]*)m")

Line = tuple[str, Sequence[tuple[float, float]]]
"""A ``#rrggbb`` colour and the points of one unbroken line, both coordinates in 0..1."""

Cell = tuple[str, str | None]
"""A character and its style as Rich writes them (``#rrggbb``, ``#rrggbb on #rrggbb``), None for the widget's own."""


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
