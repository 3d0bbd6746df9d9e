"""DashboardScreen: the main page; ticks become pictures, keys become changes of the lens or wishes to the engine."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen

from probes.frames import Command
from tui.fleet import Fleet
from tui.keys import bindings
from tui.lens import GROUPS, SORTS, Lens, next_of, windows
from tui.panels.fleet import FleetPanel
from tui.panels.header import HeaderLine
from tui.panels.key_line import KeyLine
from tui.panels.status import StatusLine
from tui.source import Source
from tui.standing import RANKS
from tui.still import Still
from tui.view import Dashboard, EndpointView
from tui.widgets.grid import Grid

if TYPE_CHECKING:
    from tui.panels.charts import Charts
    from tui.panels.detail import Detail
    from tui.panels.groups import GroupPanel

TICK_S: Final = 0.25
"""The screen is drawn at most so often, whatever the engine says."""

LINES_OF_TEXT: Final = 3
"""Header, status and keys."""


class DashboardScreen(Screen[None]):
    """The fleet, the group view or four large panels over the selected endpoint's detail.

    ``fleet`` is what is known, ``source`` takes wishes, ``now`` gives the present in ms since the epoch. Everything a
    person chose is in ``lens``, ``selected`` and ``still``; a resize changes none of them.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    class WindowChosen(Message):
        """A window that may reach further back than what is loaded."""

        def __init__(self, window_ms: int) -> None:
            super().__init__()
            self.window_ms = window_ms

    class ExportAsked(Message):
        """The shown samples are wanted in a file."""

        def __init__(self, board: Dashboard) -> None:
            super().__init__()
            self.board = board

    class RaceAsked(Message):
        """A race is wanted, at first of these endpoints."""

        def __init__(self, lanes: tuple[str, ...]) -> None:
            super().__init__()
            self.lanes = lanes

    def __init__(self, fleet: Fleet, source: Source, now: Callable[[], int], lens: Lens) -> None:
        super().__init__()
        self.fleet = fleet
        self.source = source
        self.now = now
        self.lens = lens
        self.selected: str | None = None
        self.still: Still | None = None
        self.board: Dashboard | None = None
        self._header = HeaderLine(id="header")
        self._rows = FleetPanel(id="fleet")
        self._groups: GroupPanel | None = None
        self._detail: Detail | None = None
        self._status = StatusLine(id="status")
        self._charts: Charts | None = None

    def compose(self) -> ComposeResult:
        """Header, fleet, status and keys; the detail comes after the first picture."""
        yield self._header
        yield self._rows
        yield self._status
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """What the first picture can do without comes after it."""
        self.call_after_refresh(self._open_detail)

    async def _open_detail(self) -> None:
        """The detail panel; and the past, which must reach as far back as the window."""
        from tui.panels.detail import Detail

        self._detail = Detail(id="detail")
        await self.mount(self._detail, after=self._rows)
        self.draw()
        self.post_message(self.WindowChosen(self.lens.window_ms))

    def on_resize(self, _: events.Resize) -> None:
        """A new size: the same content in other columns, once the panels know how wide they are."""
        self.call_after_refresh(self.draw)

    # what is drawn

    def draw(self) -> None:
        """Draw the present, or the frozen instant; panels paint only what has changed."""
        if not self.is_current or not self.size:
            return
        now = self.now()
        with self.app.batch_update():
            board = self._board(now)
            self.board, self.selected = board, board.selected
            self._header.show(board, self.lens, now)
            self._status.show(board)
            self._share_height(board)
            if self._charts is not None and self._charts.display:
                self._charts.show(board)
                return
            if self._groups is not None and self._groups.display:
                self._groups.show(board, self.fleet.longest_name, self.lens.rank)
            else:
                self._rows.shared_scale = self.lens.shared_scale
                self._rows.show(board, self.fleet.longest_name)
            recent = (self.still or self.fleet).recent(board.selected)
            if self._detail is not None:
                self._detail.show(self._chosen(), recent.sample, recent.failures, recent.answer, board.at)

    def _board(self, now: int) -> Dashboard:
        """The dashboard of this tick; while frozen it changes only with the lens, but for the truth on the engine."""
        if self.still is None:
            return self.fleet.dashboard(self.lens, self._columns(), now, self.selected)
        board = self.still.dashboard(self.fleet, self.lens, self._columns(), self.selected)
        return replace(board, link=self.fleet.link_at(now), engine=self.fleet.engine)

    def _columns(self) -> int:
        """How many slices of time the visible panel can draw."""
        if self._charts is not None and self._charts.display:
            return self._charts.columns
        if self.lens.ranked:
            return 1  # it draws no time
        return max(self._rows.columns_for(self.fleet.longest_name).spark, 1)

    def _share_height(self, board: Dashboard) -> None:
        """The fleet gets what it needs, the detail what is left; tall rows only where both have room."""
        charts = self._charts is not None and self._charts.display
        room = self.size.height - LINES_OF_TEXT - self.has_class("-filtering")
        least = 11 if room >= 27 else 8 if room >= 20 else 6 if room >= 12 else 0
        self.set_class(room >= 27, "-roomy")
        rows = self._groups if self._groups is not None and self._groups.display else self._rows
        wanted = rows.fit(board, room - least)
        rows.styles.height = wanted if least and self._detail is not None else "1fr"
        if self._detail is not None:
            self._detail.display = bool(least and board.selected and not charts)

    def _chosen(self) -> EndpointView | None:
        """The selected endpoint as it is drawn."""
        board = self.board
        return next((one for one in board.endpoints if one.name == board.selected), None) if board else None

    # the lens

    def _look(self, **changes: Any) -> None:
        """Change the lens and draw at once: a key that is answered late seems broken."""
        self.lens = replace(self.lens, **changes)
        self.draw()

    def action_window(self, step: int) -> None:
        """A longer or shorter window."""
        self._look(window=next_of(windows(simulated=self.fleet.link.simulated), self.lens.window, step))
        self.post_message(self.WindowChosen(self.lens.window_ms))

    def action_sort(self, step: int) -> None:
        """Sort, or in the group view rank, by another figure."""
        if self.lens.ranked:
            self._look(rank=next_of(RANKS, self.lens.rank, step))
        else:
            self._look(sort=next_of(SORTS, self.lens.sort, step))

    async def action_group(self) -> None:
        """Endpoints of the same model under a heading, then side by side, then not together."""
        self.lens = replace(self.lens, groups=next_of(GROUPS, self.lens.groups))
        if self.lens.ranked:
            if self._groups is None:
                from tui.panels.groups import GroupPanel

                self._groups = GroupPanel(id="groups")
                await self.mount(self._groups, after=self._rows)
            if self._charts is not None:
                self._charts.display = False
        self._rearrange()

    def action_scale(self) -> None:
        """One scale for a column, or one for each row."""
        self._look(shared_scale=not self.lens.shared_scale)

    def action_move(self, step: int) -> None:
        """Select another endpoint, in the order drawn; the ends are ends."""
        names = [view.name for view in self.board.endpoints] if self.board else []
        if names and self.selected in names:
            self.selected = names[max(0, min(len(names) - 1, names.index(self.selected) + step))]
        self.draw()

    @on(Grid.Clicked)
    def _row_clicked(self, event: Grid.Clicked) -> None:
        self.selected = event.owner
        self.draw()

    def action_freeze(self) -> None:
        """Hold the picture still, or let it go on."""
        self.still = None if self.still else Still.of(self.fleet, self.lens, self._columns(), self.now())
        self.set_class(self.still is not None, "-frozen")
        self.draw()

    async def action_view(self) -> None:
        """Four large panels in the place of fleet and detail, or back."""
        if self._charts is None:
            from tui.panels.charts import Charts  # plotext takes its time; not before it is wanted

            self._charts = Charts(id="charts")
            await self.mount(self._charts, after=self._rows)
        else:
            self._charts.display = not self._charts.display
        self._rearrange()

    def _rearrange(self) -> None:
        """Show the one panel that is chosen: the large ones, the group view, or the fleet."""
        charts = self._charts is not None and self._charts.display
        self._rows.display = not charts and not self.lens.ranked
        if self._groups is not None:
            self._groups.display = not charts and self.lens.ranked
        self.call_after_refresh(self.draw)
        self.draw()

    async def action_filter(self) -> None:
        """A line to type a filter into."""
        if self.has_class("-filtering"):
            return
        from tui.widgets.filter_line import FilterLine

        self.add_class("-filtering")
        line = FilterLine(self.lens.query)
        await self.mount(line, before=self._status)
        line.focus()

    def action_clear(self) -> None:
        """No filter."""
        self._look(query="")

    def on_filter_line_typed(self, event: Any) -> None:
        """The filter as it is being typed."""
        self._look(query=event.text)

    async def on_filter_line_left(self) -> None:
        """The line goes when its work is done."""
        self.remove_class("-filtering")
        await self.query("FilterLine").remove()
        self.draw()

    # wishes

    def _wish(self, do: Literal["pause", "resume", "probe"], endpoint: str | None, words: str) -> None:
        if self.source.send(Command(do, endpoint)):
            self.notify(words, timeout=2, markup=False)
        elif self.fleet.link.phase == "attached":
            self.notify("Another recorder holds the store; this screen reads along.", severity="warning")
        elif self.fleet.link.phase == "unrecorded":
            self.notify("Nobody records into this store; this screen only reads it.", severity="warning")
        else:
            self.notify("The engine is not running.", severity="warning")

    def action_probe(self) -> None:
        """Probe the selected endpoint now."""
        if self.selected is not None:
            self._wish("probe", self.selected, f"Probing {self.selected}")

    def action_pause(self) -> None:
        """Pause or resume the selected endpoint."""
        if (view := self._chosen()) is not None:
            do: Literal["pause", "resume"] = "resume" if view.watch.paused else "pause"
            self._wish(do, view.name, f"{do.capitalize()} {view.name}")

    def action_pause_all(self) -> None:
        """Pause or resume all endpoints."""
        paused = self.fleet.engine is not None and self.fleet.engine.paused
        self._wish("resume" if paused else "pause", None, "Resume all" if paused else "Pause all")

    def action_export(self) -> None:
        """Write what is shown to a file."""
        if self.board is not None and self.board.endpoints:
            self.post_message(self.ExportAsked(self.board))

    def action_race(self) -> None:
        """Race the selected endpoint against its best rival."""
        from tui.race_form import preselected

        self.post_message(self.RaceAsked(preselected(self.board.endpoints if self.board else (), self.selected)))

    def action_help(self) -> None:
        """Every key and every formula."""
        from tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.board.certificate if self.board else None))
