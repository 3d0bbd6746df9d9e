"""LanePanel: one lane of a race: who it is, how fast it writes, how far it has come, and what it says."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from probes.race.updates import TextDelta
from probes.sample import Sample
from tui.race.board import LaneBoard
from tui.race.lane_words import LETTERS, Ink, figures, seconds, state, why
from tui.race.speedometer import Speedometer
from tui.race.tail import Tail
from tui.widgets.plate import Plate, Row

FIGURE_WIDTH: Final = 18
"""Cells of a figure and its label: ``chars/s    12,345``."""


NARROW: Final = 32
"""A lane of fewer cells has no room for its state beside its name."""


class LanePanel(Vertical):
    """Draws one lane, once per picture; ``slot`` (0 to 3) gives its letter and its colour."""

    DEFAULT_CSS = """
    LanePanel {
        width: 1fr;
        height: 1fr;
        padding: 0 1;
        .name { height: 2; }
        Tail { height: 1fr; }
        &.-next { border-left: solid $border-blurred; }
        &.-focused .name { background: $primary 12%; }
        &.-over Speedometer, &.-over .figures { display: none; }
    }
    """

    class Resized(Message):
        """The panel has another size, or its first: what it shows is to be drawn for it."""

    def __init__(self, slot: int) -> None:
        super().__init__(classes="-next" if slot else None)
        self.slot = slot
        self.tail = Tail()
        self._head = Plate(classes="name")
        self._speed = Speedometer()
        self._figures = Plate(classes="figures")
        self._told = 0
        self._last: TextDelta | None = None

    def compose(self) -> ComposeResult:
        """Name, speed, figures, text."""
        yield self._head
        yield self._speed
        yield self._figures
        yield self.tail

    def on_resize(self, _: events.Resize) -> None:
        """Ask to be drawn anew."""
        self.post_message(self.Resized())

    def begin(self) -> None:
        """A new heat, or another lane: nothing is said yet."""
        self._told, self._last = 0, None
        self.tail.begin()

    def show(self, lane: LaneBoard, said: Sequence[TextDelta], model: str, top: float) -> None:
        """Draw it. ``said`` is all that it said; what is new of it is appended. ``top`` is the scale of all lanes."""
        self._head.draw(_name(lane, model, self.slot, self._head.size.width, marked=self.has_class("-focused")))
        progress, sample = lane.progress, lane.sample
        over = sample is not None and sample.tokens_per_s is not None
        speed = (
            sample.tokens_per_s if over and sample is not None else progress.tokens_per_s if sample is None else None
        )
        self._speed.show(
            speed,
            lane.speeds,
            top,
            self.slot,
            estimated=progress.estimated and not over,
            word=_basis(sample) if over else "last 250 ms",
        )
        self._draw_figures(lane)
        self._say(said, whole=lane.state == "finished")

    def _draw_figures(self, lane: LaneBoard) -> None:
        width = self._figures.size.width
        across = max(1, width // FIGURE_WIDTH)
        found = figures(lane)
        rows: list[Row] = []
        for first in range(0, len(found), across):
            pieces: list[tuple[str, str]] = []
            for label, value, ink in found[first : first + across]:
                pieces += [(f"{label:<8}", "label"), (f"{value:>8}", ink), ("  ", "label")]
            rows.append(tuple(pieces))
        self._figures.styles.height = len(rows)
        self._figures.draw(rows)

    def _say(self, said: Sequence[TextDelta], *, whole: bool) -> None:
        """Append what is new; where a draft has taken the place of it, say all of it anew."""
        if not self._told or len(said) < self._told or said[self._told - 1] is not self._last:
            self.tail.begin(said)
            self.tail.add((), whole=whole)
        else:
            self.tail.add(said[self._told :], whole=whole)
        self._told, self._last = len(said), said[-1] if said else None


def _basis(sample: Sample | None) -> str:
    """Of what a speed that is shown at the end of a lane is the speed."""
    return "the answer" if sample is not None and sample.speed_basis == "answer" else "all of it"


def _name(lane: LaneBoard, model: str, slot: int, width: int, *, marked: bool) -> list[Row]:
    """Letter, name and state; below it the model, or why it failed. In a narrow lane the state stands below."""
    mark = "▸ " if marked else "  "
    words, ink = state(lane)
    reason = why(lane)
    letter = (f"{LETTERS[slot]} ", f"slot{slot}")
    if width < NARROW:
        return [(letter, (_cut(lane.name, width - 2), "figure")), ((mark, "figure"), (words, ink))]
    below: tuple[str, Ink] = (model, "label") if reason is None else (reason, "error")
    name = _cut(lane.name, max(width - 2 - len(words) - 1, 4))
    return [(letter, (f"{name} ", "figure"), (words, ink)), ((mark, "figure"), below)]


def _cut(text: str, width: int) -> str:
    """Text in exactly so many cells, an ellipsis where it is longer."""
    return set_cell_size(text, width) if cell_len(text) <= width else f"{set_cell_size(text, width - 1)}…"


def track(lanes: Sequence[LaneBoard], cap: int, width: int) -> list[Row]:
    """The course seen from above, a row for each lane: how far it has come to the cap, its tokens, its time."""
    longest = max((cell_len(lane.name) for lane in lanes), default=0)
    named = min(longest, max(width // 3, 8))
    room = max(width - named - 26, 6)
    rows: list[Row] = []
    for slot, lane in enumerate(lanes):
        share = min(lane.progress.tokens / cap, 1.0)
        done = round(share * (room - 1))
        runner = "⚑" if lane.is_well else "✕" if lane.has_failed else "▶" if lane.progress.chars else "▸"
        tokens = f"{'≈' if lane.progress.estimated and lane.progress.tokens else ''}{lane.progress.tokens:,.0f}"
        ink = "error" if lane.has_failed else f"slot{slot}"
        rows.append(
            (
                (f"{LETTERS[slot]} {_cut(lane.name, named)} ", f"slot{slot}"),
                ("━" * done + runner, ink),
                ("╌" * (room - 1 - done) + "┃", "dim"),
                (f"{tokens:>8}", "figure"),
                (f"{seconds(lane.progress.at_ms):>11}", "label"),
            )
        )
    return rows
