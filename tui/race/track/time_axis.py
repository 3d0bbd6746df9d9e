"""The time axis of a heat: where it ends, which cell an instant is in, and which round instants carry a tick; pure."""

from dataclasses import dataclass
from math import floor, log10
from typing import Final

LEAST_END_MS: Final = 500.0
"""An axis is never shorter than this while a heat runs: one that has just begun has no length yet."""

MOST_TICKS: Final = 12

LEAST_APART: Final = 5
"""Cells from one tick to the next, at least: the first label is ``0 s``."""

LABEL_GAP: Final = 2
"""Blank cells between the labels of two ticks, at least."""


def round_ceiling(value: float) -> float:
    """1, 2 or 5 times a power of ten, the next one that is not below a positive ``value``.

    The end of a scale that grows with what is drawn on it: it stays where it is for at least half of its length.
    """
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9))


def running_end_ms(elapsed_ms: float, expected_ms: float | None = None) -> float:
    """Where the axis ends of a heat that has run for ``elapsed_ms``: where an earlier one did, or else a round time."""
    if expected_ms is not None and elapsed_ms <= expected_ms:
        return expected_ms
    return round_ceiling(max(elapsed_ms, LEAST_END_MS))


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """From the start of a heat at the left edge of the first cell to ``end_ms`` in the last of ``cells``."""

    end_ms: float
    cells: int

    def cell(self, at_ms: float) -> int:
        """The cell of an instant; beyond the axis is its end."""
        share = at_ms / self.end_ms if self.end_ms > 0 else 0.0
        return round(min(max(share, 0.0), 1.0) * (self.cells - 1))

    @property
    def step_ms(self) -> float:
        """The time between two ticks: the shortest round one that leaves room for their labels."""
        end = max(self.end_ms, 1.0)
        step = round_ceiling(end / max(self.cells, 1))
        while True:
            apart = step / end * max(self.cells - 1, 1)
            if apart >= max(len(_label(end, step)) + LABEL_GAP, self.cells / MOST_TICKS, LEAST_APART):
                return step
            step = round_ceiling(step * 1.01)

    def ticks(self) -> tuple[float, ...]:
        """Round instants from 0 on, in ms."""
        step = self.step_ms
        return tuple(place * step for place in range(floor(self.end_ms / step + 1e-9) + 1))

    def labels(self) -> str:
        """The ticks as one line of text: seconds, with as many decimals as the step needs; the unit at the first.

        The last one stands further left than its tick where it would not fit, or not at all.
        """
        line, step = "0 s", self.step_ms
        for at in self.ticks()[1:]:
            text = _label(at, step)
            start = min(self.cell(at), self.cells - len(text))
            if start > len(line):
                line = line.ljust(start) + text
        return line.ljust(self.cells)


def _label(at_ms: float, step_ms: float) -> str:
    """An instant in seconds, with as many decimals as steps of this length need."""
    decimals = max(0, -floor(log10(step_ms / 1000) + 1e-9))
    return f"{at_ms / 1000:,.{decimals}f}"
