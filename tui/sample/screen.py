"""SampleScreen: one sample: where its time went, its text as far as it is kept, and every raw fact."""

import asyncio
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen

from probes.store.problem import StoreProblem
from probes.store.read.pages import Stored
from probes.text import plain
from tui.endpoint.keys import SAMPLE_FOOTER, SAMPLE_KEYS
from tui.keymap import bindings
from tui.sample.facts import fact_rows, title_row
from tui.sample.waterfall import Waterfall
from tui.sample.words import figures
from tui.widgets.key_line import KeyLine
from tui.widgets.plate import Plate, Row

NOT_KEPT: Final = "Its text is not kept: the store keeps the text of an endpoint's last answer only."


class SampleScreen(Screen[None]):
    """``read_text`` gives a sample's text by its id, None where it is not kept, and blocks.

    ``step`` gives the sample that lies so many rows below in the list that this was opened from.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(SAMPLE_KEYS)]
    DEFAULT_CSS = """
    SampleScreen {
        layout: vertical;
        background: $background;
        #heading { background: $panel; padding: 0 1; }
        #keys { background: $panel; }
        #sheet { height: 1fr; padding: 0 1; scrollbar-gutter: stable; scrollbar-size-vertical: 1; }
        Waterfall { height: auto; max-height: 12; margin: 1 0; }
        #figures, #text, #facts { height: auto; margin: 0 0 1 0; }
    }
    """

    def __init__(
        self,
        stored: Stored,
        read_text: Callable[[int], str | None],
        step: Callable[[int], Stored | None],
        show_help: Callable[[], None],
    ) -> None:
        super().__init__()
        self.stored = stored
        self._read_text, self._step, self._show_help = read_text, step, show_help
        self._text: str | None = "Reading the store …"
        self._heading = Plate(id="heading")
        self._waterfall = Waterfall()
        self._figures, self._said, self._facts = Plate(id="figures"), Plate(id="text"), Plate(id="facts")
        self._sheet = VerticalScroll(
            self._waterfall, self._figures, self._said, self._facts, id="sheet", can_focus=False
        )

    def compose(self) -> ComposeResult:
        """Heading, sheet, keys."""
        yield self._heading
        yield self._sheet
        yield KeyLine(SAMPLE_FOOTER, id="keys")

    def on_mount(self) -> None:
        """Read the text."""
        self._show()

    def on_resize(self, _: events.Resize) -> None:
        """Wrap anew."""
        self.call_after_refresh(self._draw)

    def _show(self) -> None:
        self._draw()
        self.run_worker(self._read(self.stored), group="sample", exclusive=True, exit_on_error=False)

    async def _read(self, stored: Stored) -> None:
        try:
            self._text = await asyncio.to_thread(self._read_text, stored.id)
        except StoreProblem as problem:
            self._text = f"The store cannot be read: {problem.detail}"
        self._draw()

    def _draw(self) -> None:
        width = self._sheet.scrollable_content_region.width
        if not self.is_mounted or width <= 0:
            return
        sample = self.stored.sample
        self._heading.draw([title_row(sample, self.stored.id, self.size.width - 2)])
        self._waterfall.show(sample)
        self._fill(self._figures, [((row, "figure"),) for row in wrap("  ·  ".join(figures(sample)), width)])
        said = [((row, "label"),) for part in plain(self._text or "").splitlines() for row in wrap(part, width) or [""]]
        text = said or [((row, "hint"),) for row in wrap(NOT_KEPT, width)]
        self._fill(self._said, [(("Text", "title"),), *text])
        self._fill(self._facts, [(("Raw facts", "title"),), *fact_rows(sample, width)])

    def _fill(self, plate: Plate, rows: Sequence[Row]) -> None:
        plate.draw(rows)
        plate.styles.height = len(rows)

    # keys

    def action_step(self, by: int) -> None:
        """The sample above or below in the list."""
        if (stored := self._step(by)) is not None and stored.id != self.stored.id:
            self.stored, self._text = stored, "Reading the store …"
            self._show()

    def action_scroll(self, rows: int) -> None:
        """Move the sheet."""
        self._sheet.scroll_relative(y=rows, animate=False)

    def action_back(self) -> None:
        """Back to the list."""
        self.app.pop_screen()

    def action_help(self) -> None:
        """Every key and every formula."""
        self._show_help()
