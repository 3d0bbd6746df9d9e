"""The curve of a race: the tokens of every lane over time, in braille on one pair of axes; pure.

A cell has two columns and four rows of dots. Where lanes meet in a cell it has the colour of the first of them.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from operator import itemgetter
from typing import Final

from probes.format import number
from tui.race.lane_words import LETTERS
from tui.race.track.lane_tracks import TICK, TrackColumns
from tui.race.track.time_axis import TimeAxis
from tui.style.palette import Piece
from tui.widgets.plate import Row

LEAST_ROWS: Final = 4
"""A lower curve says nothing."""

_DOTS: Final = ((0x40, 0x80), (0x04, 0x20), (0x02, 0x10), (0x01, 0x08))
"""The bits of a braille character, the lowest row first, left and right."""

_BLANK: Final = 0x2800

Label = tuple[int, str, str]
"""The first cell of a text, the text, and its style."""


@dataclass(frozen=True, slots=True)
class LaneCurve:
    """One lane: how many tokens it had (second) at which instants (first, ms since the start), in order of time.

    ``estimated``: no provider counted them.
    """

    slot: int
    points: Sequence[tuple[float, float]]
    estimated: bool = False


def curve_rows(lines: Sequence[LaneCurve], end_ms: float, top: float, shared: TrackColumns, rows: int) -> list[Row]:
    """The lines in ``rows`` rows, below the tracks and on their axis of time; tokens from 0 to ``top``."""
    axis = TimeAxis(end_ms, shared.axis)
    bits = [[0] * axis.cells for _ in range(rows)]
    owners = [[-1] * axis.cells for _ in range(rows)]
    figures = sum(cells for _, cells in shared.figures)
    labels: list[list[Label]] = [[] for _ in range(rows)]
    for line in lines:
        column, height = _draw(line, axis, top, bits, owners)
        if height >= 0:
            text, ink = _label(line)
            start = min(column // 2 + 1, axis.cells + figures - len(text))
            row = _free(rows - 1 - height // 4, labels, start, start + len(text))
            labels[row].append((start, text, ink))
    guides = {rows - 1 - round(share * (rows - 1)): number(round(top * share)) for share in _shares(rows)}
    marked = frozenset(axis.cell(at) for at in axis.ticks())
    return [
        (
            (f"{guides.get(row, ''):>{shared.name - 1}} ", "label"),
            *_cells(bits[row], owners[row], marked, labels[row], axis.cells + figures),
        )
        for row in range(rows)
    ]


def _draw(
    line: LaneCurve, axis: TimeAxis, top: float, bits: list[list[int]], owners: list[list[int]]
) -> tuple[int, int]:
    """Set the dots of a line. Returns its last column and height in dots; -1 for the height of one without points."""
    points = line.points
    if not points:
        return 0, -1
    dots, highest, rows = 2 * axis.cells - 1, 4 * len(bits) - 1, len(bits)
    per_dot = axis.end_ms / dots
    first, last = (min(round(at / per_dot), dots) for at in (points[0][0], points[-1][0]))
    before = height = round(points[0][1] / top * highest) - 1
    for column in range(first, last + 1):
        tokens = points[-1][1] if column == last else _tokens_at(points, column * per_dot)
        height = min(round(tokens / top * highest), highest)
        for dot in range(min(before + 1, height), height + 1):
            row = rows - 1 - dot // 4
            bits[row][column // 2] |= _DOTS[dot % 4][column % 2]
            if owners[row][column // 2] < 0:
                owners[row][column // 2] = line.slot
        before = height
    return last, height


def _tokens_at(points: Sequence[tuple[float, float]], at_ms: float) -> float:
    """How many tokens there were at an instant, in proportion between two points."""
    after = bisect_right(points, (at_ms, inf))
    if after in (0, len(points)):
        return points[max(after - 1, 0)][1]
    (since, had), (until, has) = points[after - 1], points[after]
    return had + (has - had) * (at_ms - since) / (until - since)


def _label(line: LaneCurve) -> Piece:
    tokens = f"{'≈' if line.estimated else ''}{number(round(line.points[-1][1]))}"
    return f"{LETTERS[line.slot]} {tokens}", f"slot{line.slot}"


def _free(row: int, labels: Sequence[Sequence[Label]], start: int, end: int) -> int:
    """The row nearest to this one that has no label yet from one cell to another, and one blank between."""
    free = (
        one
        for one, there in enumerate(labels)
        if all(end < other or other + len(text) < start for other, text, _ in there)
    )
    return min(free, key=lambda one: abs(one - row), default=row)


def _shares(rows: int) -> tuple[float, ...]:
    """Which shares of the axis are labelled."""
    return (0.0, 1.0) if rows < 6 else (0.0, 0.5, 1.0)


def _cells(
    bits: Sequence[int], owners: Sequence[int], marked: Collection[int], labels: Sequence[Label], width: int
) -> list[Piece]:
    """One row: dots in the colour of their lane, marks of the axis where there are none, labels over both."""
    found: list[tuple[str, str]] = [
        (chr(_BLANK + dots), f"slot{owner}") if dots else (TICK if cell in marked else " ", "dim")
        for cell, (dots, owner) in enumerate(zip(bits, owners, strict=True))
    ]
    found += [(" ", "dim")] * (width - len(found))
    for start, text, ink in labels:
        for cell, character in enumerate(text, start):
            found[cell] = character, ink
    return [("".join(one for one, _ in run), ink) for ink, run in groupby(found, key=itemgetter(1))]
