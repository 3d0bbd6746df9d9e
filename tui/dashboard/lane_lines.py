"""Lanes: warm and cold of an endpoint that is probed on both in turn, as two lines of words; pure."""

from collections.abc import Sequence
from typing import Final

from tui.state.view import LaneFigures
from tui.style.format import number

WIDTHS: Final = (3, 5, 5, 5)
"""Cells for a count, two times and a speed, so that nothing moves while they grow; at most 78 for the whole line."""


def lanes_lines(lanes: Sequence[LaneFigures]) -> list[str]:
    """A line for each lane over the window, their figures under each other; set-up where the lane pays it."""
    cells = [
        [number(value) for value in (one.measured, one.ttft_p50_ms, one.ttft_p95_ms, one.tokens_per_s_p50)]
        for one in lanes
    ]
    widths = [max([least, *map(len, column)]) for least, *column in zip(WIDTHS, *cells, strict=True)]
    lines = []
    for one, values in zip(lanes, cells, strict=True):
        count, p50, p95, speed = (value.rjust(width) for value, width in zip(values, widths, strict=True))
        setup = f"  set-up p50 {number(one.setup_p50_ms)} ms" if one.lane == "cold" else ""
        lines.append(f"{one.lane}  n {count}  TTFT p50 {p50} p95 {p95} ms  tok/s p50 {speed}{setup}")
    return lines
