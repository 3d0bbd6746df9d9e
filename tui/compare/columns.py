"""CompareColumns: which figures of a comparison fit a width, and how wide each is; a function of the width alone."""

from dataclasses import dataclass
from typing import Final

from tui.compare.metrics import COMPARE_METRICS

MARKER: Final = 4  # the cursor of the marked row, the colour, the letter and a blank
PLACE: Final = 4  # "=12 "
RATIO: Final = 8
SAMPLES: Final = 9
LEAST_BAR: Final = 8
WIDEST_BAR: Final = 28
WIDEST_NAME: Final = 36
WIDEST_GAP: Final = 3

WIDTHS: Final[dict[str, int]] = {
    "samples": SAMPLES,
    **{name: one.width for name, one in COMPARE_METRICS.items()},
    "ratio": RATIO,
}
"""The least width of every column, in the order of drawing: blank and mark included."""

HEADS: Final[dict[str, str]] = {
    "samples": "samples",
    **{name: one.head for name, one in COMPARE_METRICS.items()},
    "ratio": "×best",
}

_WANTED: Final = (
    "ratio", "ttft", "tokens/s", "errors", "ttft p95", "samples", "ttft p99", "e2e", "stall", "hits", "tokens/s p5",
    "cost/M", "gap p95", "cost",
)  # fmt: skip
"""Columns by importance: as the width grows they appear in this order."""


@dataclass(frozen=True, slots=True)
class CompareColumns:
    """The parts of a row: a name ``name`` cells wide, and the columns ``shown`` in the order of drawing.

    Each column is ``gap`` cells wider than it must be; ``bar`` is the length of the bar at the end, 0 for none.
    """

    name: int
    shown: tuple[str, ...]
    gap: int = 0
    bar: int = 0

    @property
    def width(self) -> int:
        """Width of a whole row."""
        figures = sum(WIDTHS[name] + self.gap for name in self.shown)
        return MARKER + PLACE + self.name + figures + (self.bar + 2 if self.bar else 0)


def compare_columns(width: int, longest_name: int, rank: str) -> CompareColumns:
    """The columns of a row ``width`` cells wide; the figure that is ranked by is always among them.

    Room left over goes to the bar, then to blanks between the columns, then to the name.
    """
    name = min(longest_name, WIDEST_NAME)
    chosen: list[str] = []
    for one in dict.fromkeys((rank, *_WANTED)):
        if chosen and CompareColumns(name, (*chosen, one)).width > width:
            break
        chosen.append(one)
    plain = CompareColumns(name, tuple(one for one in WIDTHS if one in chosen))
    room = width - plain.width - 2
    bar = min(room, WIDEST_BAR) if room >= LEAST_BAR else 0
    room -= bar
    gap = min(max(room // len(plain.shown), 0), WIDEST_GAP) if bar else 0
    return CompareColumns(name, plain.shown, gap, bar)
