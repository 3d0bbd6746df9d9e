"""An animated SVG of what a screen showed: pictures in a strip that a style sheet moves on, without a script; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

CELL: Final = (8, 17)
"""Width and height of a character, in pixels."""

FONT: Final = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
FONT_SIZE: Final = 13.3
BASELINE: Final = 13
"""Where a row's characters stand, from its top."""

MARGIN: Final = 10
ROUNDED: Final = 8
EIGHTHS: Final = " ▁▂▃▄▅▆▇█"

_APART: Final = re.compile(r"\S+(?: \S+)*")
"""What is placed as one piece: several blanks in a row would be drawn as one."""


class Run(NamedTuple):
    """Characters of one style in a row: where they begin, what they are, their colours (``#rrggbb``), their weight."""

    column: int
    text: str
    color: str
    ground: str
    bold: bool


Row = tuple[Run, ...]


@dataclass(frozen=True)
class Picture:
    """A screen's rows, and how long (s) they are shown."""

    rows: tuple[Row, ...]
    seconds: float


def row_of(segments: Iterable[Segment], ink: str, ground: str) -> Row:
    """A screen's row as runs; ``ink`` and ``ground`` are the colours where a segment has none."""
    runs, column = [], 0
    for segment in segments:
        style = segment.style or Style.null()
        front, back = _rgb(style.color, ink), _rgb(style.bgcolor, ground)
        if style.reverse:
            front, back = back, front
        if segment.text:
            runs.append(Run(column, segment.text, _mixed(front, back) if style.dim else front, back, bool(style.bold)))
        column += cell_len(segment.text)
    return tuple(_joined(runs))


def _joined(runs: Sequence[Run]) -> Iterable[Run]:
    for _, group in groupby(runs, key=lambda one: one[2:]):
        same = list(group)
        yield same[0]._replace(text="".join(one.text for one in same))


def _rgb(color: Color | None, default: str) -> str:
    return default if color is None or color.is_default else color.get_truecolor().hex


def _mixed(front: str, back: str) -> str:
    parts = ((int(front[at : at + 2], 16) + int(back[at : at + 2], 16)) // 2 for at in (1, 3, 5))
    return "#" + "".join(f"{one:02x}" for one in parts)


def film(pictures: Sequence[Picture], columns: int, title: str, ground: str, *, still: int | None = None) -> str:
    """The SVG: all pictures in turn, for ever; or one of them alone, ``still``.

    Each row is defined once, however many pictures show it. Who asks for less motion sees the last picture.
    """
    shown = list(pictures) if still is None else [pictures[still]]
    width, height = columns * CELL[0], len(shown[0].rows) * CELL[1]
    names: dict[Row, str] = {}
    for row in (row for one in shown for row in one.rows if row):
        names.setdefault(row, f"r{len(names)}")
    classes: dict[tuple[str, bool], str] = {}
    drawn = [f'<g id="{name}">{_row(row, ground, classes)}</g>' for row, name in names.items()]
    strip = []
    for place, one in enumerate(shown):
        used = "".join(
            f'<use href="#{names[row]}" y="{at * CELL[1] + BASELINE}"/>' for at, row in enumerate(one.rows) if row
        )
        strip.append(f'<g transform="translate({place * width})">{used}</g>')
    styles = [f".{name}{{fill:{color}{';font-weight:bold' * bold}}}" for (color, bold), name in classes.items()]
    whole = (width + 2 * MARGIN, height + 2 * MARGIN)
    box = f'width="{whole[0]}" height="{whole[1]}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {box} viewBox="0 0 {whole[0]} {whole[1]}">',
            f"<title>{escape(title)}</title>",
            f"<style>text{{font:{FONT_SIZE}px {FONT}}}{''.join(styles)}{_motion(shown, width)}</style>",
            f"<defs>{''.join(drawn)}</defs>",
            f'<rect {box} rx="{ROUNDED}" fill="{ground}"/>',
            f'<svg x="{MARGIN}" y="{MARGIN}" width="{width}" height="{height}">',
            f'<g class="strip">{"".join(strip)}</g>',
            "</svg></svg>\n",
        )
    )


def _row(row: Row, ground: str, classes: dict[tuple[str, bool], str]) -> str:
    """A row's grounds and characters, from its baseline; columns of eighths are drawn, not left to a font."""
    parts = []
    for run in row:
        x = run.column * CELL[0]
        if run.ground != ground:
            parts.append(_path([(x, -BASELINE, cell_len(run.text) * CELL[0], CELL[1])], run.ground))
        columns = [
            (x + at * CELL[0], CELL[1] * (1 - full / 8) - BASELINE, length * CELL[0], CELL[1] * full / 8)
            for at, length, full in _columns(run.text)
        ]
        if columns:
            parts.append(_path(columns, run.color))
        rest = "".join(" " if char in EIGHTHS else char for char in run.text)
        for word in _APART.finditer(rest):
            name = classes.setdefault((run.color, run.bold), f"c{len(classes)}")
            begin, length = x + cell_len(rest[: word.start()]) * CELL[0], cell_len(word[0]) * CELL[0]
            text = escape(word[0], quote=False)
            parts.append(f'<text class="{name}" x="{begin}" textLength="{length}">{text}</text>')
    return "".join(parts)


def _columns(text: str) -> Iterable[tuple[int, int, int]]:
    """Where columns of eighths stand: the place of the first, how many alike there are, how full they are."""
    place = 0
    for char, group in groupby(text):
        alike = "".join(group)
        if char in EIGHTHS[1:]:
            yield place, len(alike), EIGHTHS.index(char)
        place += cell_len(alike)


def _motion(shown: Sequence[Picture], width: int) -> str:
    """The style sheet's steps from picture to picture."""
    if len(shown) == 1:
        return ""
    total, at, steps = sum(one.seconds for one in shown), 0.0, []
    for place, one in enumerate(shown):
        steps.append(f"{at / total * 100:.3f}%{{transform:translateX({-place * width}px)}}")
        at += one.seconds
    last = f"translateX({-(len(shown) - 1) * width}px)"
    return (
        f".strip{{animation:strip {total:.2f}s steps(1,end) infinite}}@keyframes strip{{{''.join(steps)}}}"
        f"@media (prefers-reduced-motion:reduce){{.strip{{animation:none;transform:{last}}}}}"
    )


def _path(boxes: Iterable[tuple[float, float, float, float]], color: str) -> str:
    """Filled boxes, each by its left upper corner, its width and its height."""
    drawn = "".join(f"M{_number(x)} {_number(y)}h{_number(w)}v{_number(h)}h-{_number(w)}z" for x, y, w, h in boxes)
    return f'<path d="{drawn}" fill="{color}"/>'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
