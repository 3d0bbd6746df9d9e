"""The time axis of a heat: where it ends, which cell an instant is in, and which round instants carry a tick; pure."""

from dataclasses import dataclass
from math import floor, log10
from typing import Final

LEAST_END_MS: Final = 500.0
"""An axis is never shorter than this while a heat runs: one that has just begun has no length yet."""

TICK_CELLS: Final = 8
"""Cells from one tick to the next, about and at least: a label such as ``0.125``, and a gap."""


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
        """The time between two ticks."""
        return round_ceiling(max(self.end_ms, 1.0) / max(self.cells // TICK_CELLS, 1))

    def ticks(self) -> tuple[float, ...]:
        """Round instants from 0 on, in ms."""
        return tuple(place * self.step_ms for place in range(floor(self.end_ms / self.step_ms + 1e-9) + 1))

    def labels(self) -> str:
        """The ticks as one line of text: seconds, with as many decimals as the step needs; the unit at the first.

        The last one stands further left than its tick where it would not fit, or not at all.
        """
        decimals = max(0, -floor(log10(self.step_ms / 1000) + 1e-9))
        line = "0 s"
        for at in self.ticks()[1:]:
            text = f"{at / 1000:,.{decimals}f}"
            start = min(self.cell(at), self.cells - len(text))
            if start > len(line):
                line = line.ljust(start) + text
        return line.ljust(self.cells)
