"""EndpointScreen: one endpoint over a stretch of time; keys change the stretch, a thread reads it from the store."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from probes.endpoint import lane_of
from probes.exports.selection import Selection
from probes.feed.messages import EndpointFacts
from probes.outcome import INCONCLUSIVE, Outcome
from probes.stats.time_range import TimeRange
from probes.store.problem import StoreProblem
from probes.store.read.pages import Stored
from tui.endpoint.body import PAGES, EndpointBody, first_page, tabs
from tui.endpoint.heading import figure_rows, kept_note, title_row
from tui.endpoint.keys import ENDPOINT_FOOTER, ENDPOINT_KEYS
from tui.endpoint.read_summary import SummaryQuestion, read_page, read_portrait, read_text, read_week
from tui.endpoint.sample_list import SampleList
from tui.endpoint.summary import EndpointSummary
from tui.endpoint.week import MEASURES, Week, week_span
from tui.keymap import bindings
from tui.time.period import LENGTHS, Period, neighbour, parse_period
from tui.widgets.key_line import KeyLine
from tui.widgets.one_line import OneLine
from tui.widgets.period_line import PeriodLine
from tui.widgets.plate import Plate

LEAST_REST_S: Final = 3.0
MOST_REST_S: Final = 30.0
REST_SHARE: Final = 10_000  # so often a window is read again while it passes, within these bounds

NOT_OK: Final = tuple(one.value for one in Outcome if one is not Outcome.OK and one not in INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class EndpointNavigation:
    """Where the screen leads: the help, and an export of a selection named after a moment (ms since the epoch)."""

    help: Callable[[], None]
    export: Callable[[Selection, int], None]


class EndpointScreen(Screen[None]):
    """``url`` gives the store, None while there is none; ``endpoints`` those of the dashboard, in its order.

    ``now`` gives the present in ms since the epoch.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(ENDPOINT_KEYS)]
    DEFAULT_CSS = """
    EndpointScreen {
        layout: vertical;
        background: $background;
        #heading { height: auto; padding: 0 1; background: $panel; }
        #pages {
            link-background: transparent; link-style: none;
            link-background-hover: $primary 25%; link-style-hover: none;
        }
        #keys { background: $panel; }
        &.-past #heading { background: $warning 25%; }
    }
    """

    def __init__(
        self,
        url: Callable[[], str | None],
        now: Callable[[], int],
        endpoints: Sequence[EndpointFacts],
        name: str,
        period: Period,
        doors: EndpointNavigation,
    ) -> None:
        super().__init__()
        self._url, self._now, self._doors = url, now, doors
        self._endpoints = tuple(endpoints)
        self.facts = next(one for one in self._endpoints if one.name == name)
        self.lane: str = lane_of(self.facts.connection)
        self.period = period
        self.vantage: str | None = None
        self.measure = MEASURES[0]
        self.portrait: EndpointSummary | None = None
        self.week: Week | None = None
        self._week_of: object = None
        self._vantages: tuple[str, ...] = ()
        self._page = 0
        self._asked: SummaryQuestion | None = None
        self._reading = self._refreshing = False
        self._problem = ""
        self._read_at = now()
        self._heading = Plate(id="heading")
        self._pages = OneLine(id="pages")
        self._body = EndpointBody(id="body")

    @property
    def samples(self) -> SampleList:
        """The list of samples."""
        return self._body.samples

    @property
    def span(self) -> TimeRange:
        """What is shown: of a present one what was read last."""
        return self._asked.span if self._asked and self.period.live else self.period.span(self._now())

    @property
    def shown_lane(self) -> str:
        """The lane that is shown: the chosen one, or the only one that there is."""
        lanes = self.portrait.lanes if self.portrait else {}
        return self.lane if self.lane in lanes or not lanes else next(iter(lanes))

    def compose(self) -> ComposeResult:
        """Heading, pages, panels, keys."""
        yield self._heading
        yield self._pages
        yield self._body
        yield KeyLine(ENDPOINT_FOOTER, id="keys")

    def on_mount(self) -> None:
        """Ask the store once it is known how much can be drawn; again and again while the present is shown."""
        self.set_interval(1.0, self.tick)
        self.app.theme_changed_signal.subscribe(self, lambda _: self.draw(at_once=True))

    def on_resize(self, _: events.Resize) -> None:
        """Another size: perhaps another page, perhaps finer slices."""
        self._body.turn(self._page, self.size)
        self.call_after_refresh(self._ask_or_draw)

    def _ask_or_draw(self) -> None:
        self.draw(at_once=True)
        if self._asked is None or self._asked.columns != self._body.columns(self.size):
            self.ask(again=self._asked is not None)

    # what is read

    def ask(self, *, again: bool = False) -> None:
        """Have what is to be shown read; ``again``: the same, later."""
        before, now = self._asked, self._now()
        asked = SummaryQuestion(
            self.facts.name, self.period.span(now), self.lane, self.vantage, self._body.columns(self.size)
        )
        self._asked, self._reading, self._refreshing, self._read_at = asked, not again, True, now
        if before is None or (before.name, before.vantage) != (asked.name, asked.vantage):
            self.portrait = None
        if before is None or not again:
            self.samples.begin()
        self.set_class(not self.period.live, "-past")
        self.draw()
        self.run_worker(self._read(asked, at_once=not again), group="endpoint", exclusive=True, exit_on_error=False)

    async def _read(self, asked: SummaryQuestion, *, at_once: bool) -> None:
        url = self._url()
        try:
            if url is None:
                self._problem = "there is none yet"
                return
            portrait, self._vantages = await asyncio.to_thread(read_portrait, url, asked)
            self.portrait = portrait
            self._problem, self._reading = "", False
            self.draw(at_once=at_once)
            page = await asyncio.to_thread(partial(read_page, url, asked, None, failures=self.samples.failures))
            self.samples.note = kept_note(portrait)
            self.samples.refill(page)
            await self._read_week(url, asked)
        except StoreProblem as problem:
            self._problem = problem.detail
        finally:
            if asked is self._asked:
                self._reading = self._refreshing = False
                self.draw()

    async def _read_week(self, url: str, asked: SummaryQuestion) -> None:
        """The week, where it is another one than that which is shown; it changes by the hour only."""
        span = week_span(asked.span)
        asked = SummaryQuestion(asked.name, span, self.shown_lane, asked.vantage)
        if (asked, self.measure) != self._week_of:
            self._body.draw_week(None)
            self.week = await asyncio.to_thread(read_week, url, asked, span, self.measure)
            self._week_of = asked, self.measure

    @on(SampleList.Wanted)
    def _next_page(self) -> None:
        self.run_worker(self._read_page(), group="page", exclusive=True, exit_on_error=False)

    async def _read_page(self) -> None:
        asked, url, held = self._asked, self._url(), self.samples.samples
        if asked is None or url is None or not held:
            return
        try:
            page = await asyncio.to_thread(partial(read_page, url, asked, held[-1], failures=self.samples.failures))
        except StoreProblem as problem:
            self.notify(f"The samples cannot be read: {problem.detail}", severity="warning", markup=False)
        else:
            if asked.name == self.facts.name and held is self.samples.samples:
                self.samples.extend(page)

    def tick(self) -> None:
        """Read the present again, when something new may be seen and nothing is being read."""
        rest = min(max(LEAST_REST_S, self.period.length_ms / REST_SHARE / 1000), MOST_REST_S)
        if self.period.live and self.is_current and not self._refreshing and self._now() - self._read_at >= rest * 1000:
            self.ask(again=True)

    # what is drawn

    def draw(self, *, at_once: bool = False) -> None:
        """Draw what is known."""
        if not self.is_mounted or not self.size.width:
            return
        width, now, lane = self.size.width - 2, self._now(), self.shown_lane
        slot = [one.name for one in self._endpoints].index(self.facts.name)
        said = "reading …" if self._reading else ""
        title = title_row(self.facts, slot, self.period, self.span, now, self.vantage, said, width)
        rows = [title, *figure_rows(self.portrait, lane, width, self._problem)]
        with self.app.batch_update():
            self._heading.draw(rows)
            self._heading.styles.height = max(len(rows), 3)
            self._pages.parts(tabs(self._body.page, self.size))
            dark = self.app.current_theme.dark
            self._body.draw(self.portrait, lane, self.facts.interval, dark=dark, at_once=at_once)
            self._body.draw_week(self.week if self._week_of and self.portrait else None)

    # keys: time

    def _go(self, period: Period) -> None:
        if period != self.period:
            self.period = period
            self.ask()

    def action_length(self, step: int) -> None:
        """A longer or a shorter window."""
        length = neighbour(tuple(LENGTHS.values()), self.period.length_ms, step)
        self._go(self.period.resized(length, self._now()))

    def action_step(self, step: int) -> None:
        """Half a window earlier or later."""
        self._go(self.period.stepped(step, self._now()))

    def action_live(self) -> None:
        """The present."""
        self._go(self.period.present())

    async def action_jump(self) -> None:
        """A line to type a date or a span into."""
        if not self.query(PeriodLine):
            line = PeriodLine(lambda text: parse_period(text, self.period, self._now()))
            await self.mount(line, after=self._body)
            line.focus()

    @on(PeriodLine.Chosen)
    def _chosen(self, event: PeriodLine.Chosen) -> None:
        self._go(event.period)

    @on(PeriodLine.Left)
    async def _left(self) -> None:
        await self.query(PeriodLine).remove()

    # keys: what is shown

    def action_page(self, page: int) -> None:
        """Show a page."""
        self._page = page
        self._body.turn(page, self.size)
        self.call_after_refresh(self._ask_or_draw)

    def action_turn(self, step: int) -> None:
        """The next page, or the one before, round and round."""
        first = first_page(self.size)
        self.action_page((self._body.page - first + step) % (len(PAGES) - first) + first)

    def action_endpoint(self, step: int) -> None:
        """The endpoint before or after; the ends are ends."""
        place = self._endpoints.index(self.facts) + step
        if 0 <= place < len(self._endpoints):
            self.facts = self._endpoints[place]
            self.lane, self.vantage = lane_of(self.facts.connection), None
            self.ask()

    def action_lane(self) -> None:
        """The other lane, where there are samples of it."""
        others = [one for one in (self.portrait.lanes if self.portrait else ()) if one != self.shown_lane]
        if others:
            self.lane = others[0]
            self.ask()
        else:
            self.notify(f"There are {self.shown_lane} samples only.", timeout=2)

    def action_vantage(self) -> None:
        """One place after the other, then all."""
        if len(self._vantages) > 1:
            choices = [None, *self._vantages]
            self.vantage = choices[(choices.index(self.vantage) + 1) % len(choices)]
            self.ask()
        else:
            self.notify("The store holds this endpoint from one place only.", timeout=2)

    def action_measure(self) -> None:
        """The week by another figure."""
        self.measure = MEASURES[(MEASURES.index(self.measure) + 1) % len(MEASURES)]
        self.ask(again=True)

    def action_failures(self) -> None:
        """Only failed samples, or all."""
        self.samples.failures = not self.samples.failures
        self.ask()

    # keys: samples

    def action_move(self, step: int) -> None:
        """The cursor of the list; where it cannot be seen, the endpoint."""
        if self._body.lists_samples:
            self.samples.move(step)
        else:
            self.action_endpoint(1 if step > 0 else -1)

    @on(SampleList.Opened)
    def action_open(self) -> None:
        """The sample under the cursor, or the page of samples."""
        if not self._body.lists_samples:
            self.action_page(6)
        elif (chosen := self.samples.chosen) is not None and (url := self._url()) is not None:
            from tui.sample.screen import SampleScreen

            def step(by: int) -> Stored | None:
                self.samples.move(by)
                return self.samples.chosen

            self.app.push_screen(SampleScreen(chosen, partial(read_text, url), step, self._doors.help))

    def action_export(self) -> None:
        """Write what is shown to a file."""
        outcomes = NOT_OK if self.samples.failures else ()
        vantages = (self.vantage,) if self.vantage else ()
        span = self.span
        chosen = Selection(
            since_ms=span.since, until_ms=span.until, endpoints=(self.facts.name,), vantages=vantages, outcomes=outcomes
        )
        self._doors.export(chosen, span.until)

    def action_back(self) -> None:
        """Back to where it was opened."""
        self.app.pop_screen()

    def action_help(self) -> None:
        """Every key and every formula."""
        self._doors.help()
