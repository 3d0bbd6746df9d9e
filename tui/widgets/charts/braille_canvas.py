"""BrailleCanvas: our own braille lines, for where plotext cannot be installed; they lie where plotext's would."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import floor
from typing import Final

from tui.widgets.charts.canvas import Cell, Line

_BLANK: Final = 0x2800
_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character: four rows of two (Unicode, U+2800 to U+28FF)."""


class BrailleCanvas:
    """Straight lines from dot to dot: a `tui.widgets.charts.canvas.Canvas`."""

    def draw(self, lines: Iterable[Line], width: int, height: int) -> list[list[Cell]]:
        """``height`` rows of ``width`` cells; later lines lie on top. Width and height are at least 1."""
        bits: dict[tuple[int, int], int] = {}
        colors: dict[tuple[int, int], str] = {}
        for color, points in lines:
            placed = [_placed(x, y, width, height) for x, y in points]
            for column, row in [*placed[:1], *(dot for pair in pairwise(placed) for dot in _between(*pair))]:
                cell = row // 4, column // 2
                bits[cell] = bits.get(cell, 0) | _DOTS[row % 4][column % 2]
                colors[cell] = color.lower()
        return [[_cell(bits, colors, (row, column)) for column in range(width)] for row in range(height)]


def _placed(x: float, y: float, width: int, height: int) -> tuple[int, int]:
    """The column and the row, from the top, of a point's dot: the corners of the unit square are the outermost dots."""
    across, up = (min(max(one, 0.0), 1.0) for one in (x, y))
    return floor(across * (2 * width - 1) + 0.5), floor((1 - up) * (4 * height - 1) + 0.5)


def _between(start: tuple[int, int], end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The dots from one to another, the first left out: one in each step along the longer way."""
    across, down = end[0] - start[0], end[1] - start[1]
    steps = max(abs(across), abs(down))
    for step in range(1, steps + 1):
        yield floor(start[0] + across * step / steps + 0.5), floor(start[1] + down * step / steps + 0.5)


def _cell(bits: dict[tuple[int, int], int], colors: dict[tuple[int, int], str], place: tuple[int, int]) -> Cell:
    return (chr(_BLANK + bits[place]), colors[place]) if place in bits else (" ", None)
