"""Speedometer: a lane's speed as a large number, and its history as bars on the scale that all lanes share."""

from collections.abc import Sequence
from typing import Final

from probes.format import DASH, number
from tui.widgets.plate import Plate, Row
from tui.widgets.spark import bars

HEIGHT: Final = 4
"""A row that says what it is, and three for number and history."""

_DIGITS: Final = {
    "0": ("█▀█", "█ █", "▀▀▀"),
    "1": ("▄█ ", " █ ", "▀▀▀"),
    "2": ("▀▀█", "█▀▀", "▀▀▀"),
    "3": ("▀▀█", "▀▀█", "▀▀▀"),
    "4": ("█ █", "▀▀█", "  ▀"),
    "5": ("█▀▀", "▀▀█", "▀▀▀"),
    "6": ("█▀▀", "█▀█", "▀▀▀"),
    "7": ("▀▀█", "  █", "  ▀"),
    "8": ("█▀█", "█▀█", "▀▀▀"),
    "9": ("█▀█", "▀▀█", "▀▀▀"),
    ",": (" ", " ", "▞"),
    "≈": (" ", "≈", " "),
    DASH: ("   ", "▀▀▀", "   "),
}
LARGEST: Final = "≈99,999"


def large(text: str) -> tuple[str, str, str]:
    """A number of digits and commas, three rows high."""
    rows = zip(*(_DIGITS[one] for one in text), strict=True)
    top, middle, bottom = (" ".join(row) for row in rows)
    return top, middle, bottom


NUMBER_WIDTH: Final = len(large(LARGEST)[0]) + 1
LEAST_HISTORY: Final = 8


class Speedometer(Plate):
    """The number at the left with its history beside it; where that is too narrow, above it in ordinary digits."""

    DEFAULT_CSS = """
    Speedometer { height: 4; }
    """

    def show(
        self, speed: float | None, speeds: Sequence[float | None], top: float, slot: int, *, estimated: bool, word: str
    ) -> None:
        """Draw a speed in tokens/s; ``word`` says what it was measured over. ``speeds`` has the newest last.

        ``top`` is the speed at the top of the bars' scale, which begins at 0.
        """
        width = self.size.width
        said = number(None if speed is None else round(speed))
        said = f"≈{said}" if estimated and speed is not None else said
        scale = f"0 – {number(top)}"
        if width >= NUMBER_WIDTH + LEAST_HISTORY and len(said) <= len(LARGEST):
            self.draw(_wide(said, speeds, top, width, slot, word, scale))
        else:
            self.draw(_narrow(said, speeds, top, width, slot, word, scale))


def _wide(
    said: str, speeds: Sequence[float | None], top: float, width: int, slot: int, word: str, scale: str
) -> list[Row]:
    columns = width - NUMBER_WIDTH
    history = bars(_newest(speeds, columns), top, rows=3)
    head = f"{f'tokens/s, {word}':{NUMBER_WIDTH}}{scale:>{columns}}"
    rows = zip(large(said), history, strict=True)
    return [
        ((head, "label"),),
        *(((f"{one:>{NUMBER_WIDTH - 1}} ", "figure"), (bar, f"slot{slot}")) for one, bar in rows),
    ]


def _narrow(
    said: str, speeds: Sequence[float | None], top: float, width: int, slot: int, word: str, scale: str
) -> list[Row]:
    history = bars(_newest(speeds, width), top, rows=2)
    return [
        ((f"{said:>7}", "figure"), (" tokens/s", "label")),
        ((f"{word}, {scale}" if len(word) + len(scale) + 2 <= width else scale, "dim"),),
        *(((bar, f"slot{slot}"),) for bar in history),
    ]


def _newest(speeds: Sequence[float | None], columns: int) -> Sequence[float | None]:
    """The newest speeds, one a column; while they are fewer, the start of the heat stands at the left edge."""
    return [*speeds[-columns:], *[None] * (columns - len(speeds))] if columns > 0 else []
