"""CompareScreen: up to six endpoints, or one endpoint from several places, on one chart and in one ranked table."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from probes.exports.selection import Selection
from probes.feed.messages import EndpointFacts
from probes.race.request import FEWEST_LANES, MOST_LANES
from probes.store.problem import StoreProblem
from tui.compare.chart import plot
from tui.compare.choice import CompareChoice
from tui.compare.comparison import Comparison, places, read
from tui.compare.contender import MOST, Contender, lined_up, toggled
from tui.compare.heading import CompareHeading
from tui.compare.keys import COMPARE_FOOTER, COMPARE_KEYS
from tui.compare.metrics import CHARTED, MEASURES
from tui.compare.ranking import Placed, placed
from tui.compare.table import CompareTable
from tui.keymap import bindings
from tui.state.view_options import next_of
from tui.time.period import LENGTHS, Period, neighbour, parse_period, refresh_ms
from tui.widgets.chart import Chart
from tui.widgets.grid import Grid
from tui.widgets.key_line import KeyLine
from tui.widgets.period_line import PeriodLine
from tui.widgets.plate import Plate

AROUND_PLOT: Final = 12
"""Cells of a chart beside its columns: labels, axis and letters."""

LEAST_COLUMNS: Final = 20
NOBODY: Final = "Nobody is compared: a takes endpoints from a list."
READING: Final = "Reading the store …"
NO_STORE: Final = "There is no store to read yet."
NOTHING: Final = "Nothing was measured in this time: [ goes back, w looks further, Home is now."


@dataclass(frozen=True, slots=True)
class CompareNavigation:
    """Where the screen leads: a race of lanes, an export of samples of a moment, an endpoint's screen, the help."""

    race: Callable[[Sequence[str]], object]
    export: Callable[[Selection, int], None]
    endpoint: Callable[[str, Period], None]
    help: Callable[[], None]


class CompareScreen(Screen[None]):
    """``url`` and ``endpoints`` say what there is when asked, ``now`` the present in ms since the epoch.

    What a person chose is in ``period``, ``contenders``, ``measure`` (what is charted), ``rank`` and ``marked``.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(COMPARE_KEYS)]
    DEFAULT_CSS = """
    CompareScreen {
        layout: vertical;
        background: $background;
        #heading, #keys { background: $panel; }
        Chart { margin: 0 1; }
        #caption { margin: 0 1; }
        &.-past { #heading, #keys { background: $accent 30%; } }
    }
    """

    def __init__(
        self,
        url: Callable[[], str | None],
        now: Callable[[], int],
        endpoints: Callable[[], Sequence[EndpointFacts]],
        period: Period,
        contenders: Sequence[EndpointFacts],
        doors: CompareNavigation,
    ) -> None:
        super().__init__()
        self._url, self._now, self._endpoints, self._doors = url, now, endpoints, doors
        self.period = period
        self.contenders = lined_up(contenders)
        self.measure = self.rank = "ttft"
        self.marked: str | None = None
        self.found: tuple[Comparison, str] | None = None
        self._kept: tuple[Contender, ...] = ()
        self._problem = ""
        self._reading = self._stale = self._asked = False
        self._read_at: int | None = None
        self._heading = CompareHeading(id="heading")
        self._chart = Chart(id="chart")
        self._caption = Plate(id="caption")
        self._table = CompareTable(id="table")

    def compose(self) -> ComposeResult:
        """Heading, chart, what the marks mean, table, keys."""
        yield self._heading
        yield self._chart
        yield self._caption
        yield self._table
        yield KeyLine(COMPARE_FOOTER, id="keys")

    def on_mount(self) -> None:
        """The present goes on by a timer."""
        self.set_interval(1.0, self.tick)

    def on_resize(self, _: events.Resize) -> None:
        """More or fewer slices fit."""
        self.call_after_refresh(self._look)

    def on_screen_resume(self) -> None:
        """Seen again: time has passed, and the theme may be another."""
        if self.found is not None:
            self.call_after_refresh(self._look)

    # what is drawn

    def tick(self) -> None:
        """Read the present again where the picture of it is too old."""
        too_old = self._read_at is None or self._now() - self._read_at >= refresh_ms(self.period.length_ms)
        if self.is_current and self.period.live and too_old:
            self._look(asked=False)

    def _look(self, *, asked: bool = True) -> None:
        """Something else is looked at: draw what is known, and read the rest; ``asked``: by a person, who waits."""
        self.set_class(not self.period.live, "-past")
        self._read_at = self._now()
        self._asked = self._asked or asked
        if self._reading:
            self._stale = True
        else:
            self._reading = True
            self.run_worker(self._load(), group="compare", exit_on_error=False)
        self._draw()

    async def _load(self) -> None:
        """Read what is wanted, once more where something else is wanted by then: one reading at a time."""
        self._stale = True
        try:
            while self._stale:
                self._stale = False
                await self._read()
        finally:
            asked, self._asked, self._reading = self._asked, False, False
        self._draw()
        if self.found is not None:
            self._chart.show(plot(*self.found, dark=self.app.current_theme.dark), at_once=asked)

    async def _read(self) -> None:
        if (url := self._url()) is None:
            self._problem = NO_STORE
            return
        measure, span = self.measure, self.period.span(self._now())
        columns, metric = max(self._chart.size.width - AROUND_PLOT, LEAST_COLUMNS), MEASURES[measure].sketch
        try:
            self.found = await asyncio.to_thread(read, url, self.contenders, span, columns, metric), measure
            self._problem = ""
        except StoreProblem as problem:
            self._problem = f"The store cannot be read: {problem.detail}"

    @property
    def rows(self) -> tuple[Placed, ...]:
        """The contenders in their places; while they are being read, those of before."""
        return () if self.found is None else placed(self.found[0], self.rank)

    def _draw(self) -> None:
        if not self.is_mounted or not self.size:
            return
        rows = self.rows
        keys = [one.contender.key for one in rows]
        if self.marked not in keys and not self._reading:
            self.marked = keys[0] if keys else None
        with self.app.batch_update():
            self._heading.show(self.contenders, self.period, self._now(), reading=self._reading and self._asked)
            self._caption.draw([self._words(rows)])
            self._table.styles.height = 1 + max(len(rows), 1)
            self._table.show(
                rows, self.rank, self.marked, NOBODY if not self.contenders else READING if self._reading else ""
            )

    def _words(self, rows: Sequence[Placed]) -> tuple[tuple[str, str], ...]:
        """The line between chart and table: what is wrong, or what the marks mean."""
        if self._problem:
            return ((self._problem, "warning"),)
        if rows and not any(one.tally.sent for one in rows):
            return ((NOTHING, "warning"),)
        whose = (f"{self.contenders[0].name} ", "figure") if self._kept and self.contenders else ("", "label")
        meaning = "   = not told apart from a neighbour (95 %)   ★ best of a column"
        return (whose, ("by ", "label"), (MEASURES[self.rank].words, "figure"), (meaning, "label"))

    # what is chosen

    def action_measure(self, step: int) -> None:
        """Chart another figure."""
        self.measure = next_of(CHARTED, self.measure, step)
        self._look()

    def action_rank(self, step: int) -> None:
        """Rank by another figure."""
        self.rank = next_of(tuple(MEASURES), self.rank, step)
        self._draw()

    @on(CompareTable.RankChosen)
    def _rank_clicked(self, event: CompareTable.RankChosen) -> None:
        self.rank = event.rank
        self._draw()

    def action_window(self, step: int) -> None:
        """A longer or shorter stretch of time."""
        self._go(self.period.resized(neighbour(tuple(LENGTHS.values()), self.period.length_ms, step), self._now()))

    def action_step(self, step: int) -> None:
        """Half a window earlier or later."""
        self._go(self.period.stepped(step, self._now()))

    def action_live(self) -> None:
        """The present."""
        self._go(self.period.present())

    def _go(self, period: Period) -> None:
        self.period = period
        self._look()

    async def action_jump(self) -> None:
        """A line to type a date or a span into."""
        if not self.query(PeriodLine):
            typing = PeriodLine(lambda text: parse_period(text, self.period, self._now()))
            await self.mount(typing, before="#keys")
            typing.focus()

    @on(PeriodLine.Chosen)
    def _jumped(self, event: PeriodLine.Chosen) -> None:
        self._go(event.period)

    @on(PeriodLine.Left)
    async def _typed(self) -> None:
        await self.query(PeriodLine).remove()

    # who is compared

    def action_add(self) -> None:
        """The list from which endpoints are taken."""
        if self._kept:
            self._back_from_places()
        self.app.push_screen(CompareChoice(self._endpoints(), self.contenders, self._toggle, self._choose))

    def _toggle(self, facts: EndpointFacts) -> tuple[Contender, ...]:
        try:
            self.contenders = toggled(self.contenders, facts)
        except ValueError as error:
            self.notify(f"{error}.".capitalize(), severity="warning")
        self._look()
        return self.contenders

    def _choose(self, members: Sequence[EndpointFacts]) -> tuple[Contender, ...]:
        self.contenders = lined_up(members)
        self._look()
        return self.contenders

    def action_remove(self) -> None:
        """Without the marked one; its neighbour is marked then."""
        keys = [one.contender.key for one in self.rows]
        if self.marked in keys:
            place = keys.index(self.marked)
            self.contenders = tuple(one for one in self.contenders if one.key != self.marked)
            self.marked = next(iter(keys[place + 1 : place + 2] or keys[max(place - 1, 0) : place]), None)
            self._look()

    def action_vantage(self) -> None:
        """The marked endpoint from each place, as if places were endpoints; or back."""
        if self._kept:
            self._back_from_places()
        elif (own := self._marked()) is not None and (url := self._url()) is not None:
            self.run_worker(self._by_place(url, own), group="places", exclusive=True, exit_on_error=False)

    async def _by_place(self, url: str, own: Contender) -> None:
        try:
            found = await asyncio.to_thread(places, url, own.name)
        except StoreProblem as problem:
            self.notify(f"The store cannot be read: {problem.detail}", severity="warning", markup=False)
            return
        facts = next((one for one in self._endpoints() if one.name == own.name), None)
        if facts is None or len(found) < 2:
            only = f"{own.name} was probed from one place only: {', '.join(found) or 'none'}."
            self.notify(only, severity="warning", markup=False)
            return
        self._kept, self.marked = self.contenders, None
        self.contenders = tuple(Contender.of(facts, slot, place) for slot, place in enumerate(found[:MOST]))
        self._look()

    def _back_from_places(self) -> None:
        self.contenders, self._kept, self.marked = self._kept, (), self.contenders[0].name if self.contenders else None
        self._look()

    # the marked one, and ways out

    def action_move(self, step: int) -> None:
        """Mark another row; the ends are ends."""
        keys = [one.contender.key for one in self.rows]
        if self.marked in keys:
            self.marked = keys[max(0, min(len(keys) - 1, keys.index(self.marked) + step))]
        self._draw()

    @on(Grid.Clicked)
    def _clicked(self, event: Grid.Clicked) -> None:
        self.marked = event.owner
        self._draw()

    def _marked(self) -> Contender | None:
        return next((one for one in self.contenders if one.key == self.marked), None)

    def action_open(self) -> None:
        """The screen of the marked endpoint, over the same time."""
        if (own := self._marked()) is not None:
            self._doors.endpoint(own.name, self.period)

    def action_race(self) -> None:
        """Race those that lead the table."""
        lanes = tuple(dict.fromkeys(one.contender.name for one in self.rows))[:MOST_LANES]
        if len(lanes) < FEWEST_LANES:
            self.notify(f"A race needs {FEWEST_LANES} endpoints: a adds one.", severity="warning")
        else:
            self._doors.race(lanes)

    def action_export(self) -> None:
        """Write the samples behind what is shown to a file."""
        if self.found is None or not self.contenders:
            return
        span = self.found[0].span
        chosen = Selection(
            since_ms=span.since,
            until_ms=span.until,
            endpoints=[*dict.fromkeys(one.name for one in self.contenders)],
            vantages=[one.vantage for one in self.contenders if one.vantage is not None],
        )
        self._doors.export(chosen, min(span.until, self._now()))

    def action_back(self) -> None:
        """To where it was opened."""
        self.app.pop_screen()

    def action_help(self) -> None:
        """Every key and every formula."""
        self._doors.help()
