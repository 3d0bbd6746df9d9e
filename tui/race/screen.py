"""RaceScreen: choose a race, watch it, know who won; and watch it again from the store, at any pace."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Final, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from probes.feed.messages import EndpointFacts
from probes.race.race import Race
from probes.race.request import NamedPrompt, RaceRequest
from probes.race.updates import RaceNews
from probes.store.problem import StoreProblem
from tui.keymap import bindings
from tui.race import heading as race_heading
from tui.race.choice import RaceChoice
from tui.race.keys import RACE_FOOTER, RACE_KEYS
from tui.race.lane import LanePanel
from tui.race.model import RaceModel
from tui.race.race_view import LaneIdentity, RaceView
from tui.race.stored_races import StoredRaceSource
from tui.race.stored_races_panel import StoredRacesPanel
from tui.widgets.key_line import KeyLine
from tui.widgets.plate import Plate

PICTURES_PER_S: Final = 10
SCRUB_SHARE: Final = 40
"""A press of a key goes so manieth a part of a replay forward or back."""

View = Literal["choose", "race", "stored"]

NO_ENGINE: Final = "No engine takes a race here: it needs one of its own. In a terminal: inftop race A B"


class RaceScreen(Screen[None]):
    """``start`` and ``stop`` pass a command on and say whether somebody takes it; `apply` takes what comes of it.

    ``clock`` gives milliseconds that never go back: what a replay runs by.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(RACE_KEYS)]
    DEFAULT_CSS = """
    RaceScreen {
        layout: vertical;
        background: $background;
        #heading, #keys { background: $panel; }
    }
    """

    def __init__(
        self,
        *,
        start: Callable[[RaceRequest], bool],
        stop: Callable[[], bool],
        prompts: Sequence[NamedPrompt],
        stored: StoredRaceSource,
        clock: Callable[[], float] = lambda: time.monotonic() * 1000,
    ) -> None:
        super().__init__()
        self._start, self._stop, self._stored, self._clock = start, stop, stored, clock
        self.view: View = "choose"
        self.model = RaceModel()
        self._at = clock()
        self._heading = Plate(id="heading")
        self._choice = RaceChoice(prompts, id="choice")
        self._race_view = RaceView(id="race")
        self._list = StoredRacesPanel(id="stored")

    def compose(self) -> ComposeResult:
        """Heading, one of three views, keys."""
        yield self._heading
        yield self._choice
        yield self._race_view
        yield self._list
        yield KeyLine(RACE_FOOTER, id="keys")

    def on_mount(self) -> None:
        """Pictures come from a timer, never from news."""
        self._turn(self.view)
        self.set_interval(1 / PICTURES_PER_S, self.tick)

    def on_resize(self, _: events.Resize) -> None:
        """Everything is drawn anew, once the panels know how wide they are."""
        self.call_after_refresh(self._redraw)

    def on_screen_resume(self) -> None:
        """Seen again: what has happened meanwhile is drawn."""
        self._at = self._clock()
        self._redraw()

    # what is told

    def offer(self, endpoints: Sequence[EndpointFacts], lanes: Sequence[str]) -> None:
        """What can be raced, and what is preselected; what a person chose before stays while a race is shown."""
        form = replace(self._choice.form, endpoints=tuple(endpoints))
        if self.model.news is None:
            form = replace(form, lanes=tuple(lanes))
        self._choice.change(form, ("lane", lanes[0]) if lanes else None)

    def apply(self, news: RaceNews) -> None:
        """Take news of the live race."""
        self.model.apply(news)

    # what is drawn

    def tick(self) -> None:
        """Let the replay go on, then draw what has changed."""
        now = self._clock()
        elapsed, self._at = now - self._at, now
        if not self.is_current or not self.size:
            return
        if self.view == "race":
            self.model.tick(elapsed)
        if self.model.changed:
            self.model.changed = False
            self._draw()

    def _draw(self) -> None:
        width = self.size.width
        with self.app.batch_update():
            if self.view == "choose":
                self._heading.draw([race_heading.of_form(self._choice.form, width)])
                self._choice.draw()
            elif self.view == "stored":
                self._heading.draw([race_heading.of_stored(width)])
                self._list.show()
            else:
                self._heading.draw([race_heading.of_race(self.model, self._choice.form.heats, width)])
                self._draw_race()

    def _draw_race(self) -> None:
        if self.model.new_heat:
            self.model.new_heat = False
            names, order = self.model.board.names, self._race_view.order
            self._race_view.begin(order if set(order) == set(names) else names)
        identities = {one.name: LaneIdentity(one.provider, one.model, one.price) for one in self._choice.form.endpoints}
        if self.model.replay is not None:
            identities |= {
                one.name: LaneIdentity(one.provider, one.model, one.price) for one in self.model.replay.race.lanes
            }
        self._race_view.show(self.model.board, identities, self.model.samples)

    def _turn(self, view: View) -> None:
        """Show another of the three views."""
        self.view = view
        self._choice.display, self._race_view.display, self._list.display = (
            view == "choose", view == "race", view == "stored",
        )  # fmt: skip
        self.model.changed = True
        self.call_after_refresh(self._redraw)

    # a race

    def action_start(self) -> None:
        """Start what is chosen; or stop what runs."""
        if self.model.is_running and self.view == "race" and self.model.replay is None:
            if self._stop():
                self.notify("Stopping: what was run is kept.", timeout=2)
            return
        try:
            self.begin(self._choice.form.request())
        except ValueError as error:
            self.notify(f"Not yet: {error}.", severity="warning", markup=False)
            self._turn("choose")

    def action_again(self) -> None:
        """The race that is shown, once more."""
        if (request := self.model.board.request) is None:
            self.action_start()
        else:
            self.begin(replace(request, lanes=self._race_view.order))

    def begin(self, request: RaceRequest) -> None:
        """Have a race run, and show it."""
        missing = set(request.lanes) - {one.name for one in self._choice.form.endpoints}
        if missing:
            self.notify(f"Not configured any more: {', '.join(sorted(missing))}.", severity="warning", markup=False)
        elif not self._start(request):
            self.notify(NO_ENGINE, severity="warning", markup=False)
        else:
            self.model.ask(request)
            self._race_view.begin(request.lanes)
            self._turn("race")

    # a replay

    def action_replay(self) -> None:
        """The race that is shown, from its recording; a replay from its beginning."""
        if self.model.replay is not None:
            self.model.replay.playing = True
            self._seek(0.0)
        elif (news := self.model.news) is None or news.phase != "over":
            self.action_kept()
        elif news.number is None:
            self.notify("This race is not kept, so there is nothing to replay.", severity="warning")
        else:
            self._open(news.number)

    def _open(self, number: int) -> None:
        self.run_worker(self._load(number), group="race", exit_on_error=False)

    async def _load(self, number: int) -> None:
        try:
            race = await asyncio.to_thread(self._stored.load, number)
        except StoreProblem as problem:
            self.notify(f"The race cannot be read: {problem.detail}", severity="warning", markup=False)
            return
        if race is None or not race.heats:
            self.notify(f"Race {number} has no heat to replay.", severity="warning")
        else:
            self.play(race, race.heats[0].number)

    def play(self, race: Race, heat: int) -> None:
        """Show a heat of a race again, from the gun."""
        self.model.play(race, heat)
        self._at = self._clock()
        self._turn("race")

    def _seek(self, to_ms: float) -> None:
        self.model.seek(to_ms)
        self._redraw()

    def action_pace(self, how: Literal["slower", "faster"]) -> None:
        """The replay faster or slower."""
        if self.model.replay is not None:
            self.model.replay.pace(-1 if how == "slower" else 1)
            self._redraw()

    # keys with a meaning of their own in each view

    async def action_enter(self) -> None:
        """Type, start, or replay what is under the cursor."""
        if self.view == "stored":
            if (chosen := self._list.chosen) is not None:
                self._open(chosen.number)
        elif self.view == "choose":
            if self._choice.cursor[0] == "typed":
                await self._choice.type()
            else:
                self.action_start()

    def action_space(self) -> None:
        """Take what is under the cursor; hold a replay, or let it go on."""
        if self.view == "choose":
            self._choice.take()
        elif self.view == "race" and self.model.replay is not None:
            if self.model.replay.is_over and self.model.replay.next_heat is None:
                self.action_replay()
            else:
                self.model.replay.playing = not self.model.replay.playing
                self._redraw()

    def action_sideways(self, step: int) -> None:
        """Another value of the field under the cursor; back and forward in a replay."""
        if self.view == "choose":
            self._choice.sideways(step)
        elif self.view == "race" and self.model.replay is not None:
            self._seek(max(0.0, self.model.replay.position_ms + step * self.model.replay.length_ms / SCRUB_SHARE))

    def action_heats(self, step: int) -> None:
        """More or fewer heats; in a replay the next heat, or the one before."""
        if self.view == "race" and self.model.replay is not None:
            self.model.step(step)
            self._redraw()
        else:
            self._choice.change(self._choice.form.changed("heats", step))

    def action_move(self, step: int) -> None:
        """The cursor, or the text of the marked lane."""
        if self.view == "race":
            self._race_view.move(step)
        elif self.view == "stored":
            self._list.move(step)
        else:
            self._choice.move(step)

    def action_lane(self, step: int) -> None:
        """The next lane; where a race is chosen, its other half."""
        if self.view == "race":
            self._race_view.mark(step)
        elif self.view == "choose":
            self._choice.cross()
        self._redraw()

    def action_swap(self) -> None:
        """The lanes, moved on by one."""
        self._choice.change(self._choice.form.swapped())
        if self.view == "race" and (order := self._race_view.order):
            self._race_view.begin((*order[1:], *order[:1]))
        self._redraw()

    def action_choose(self) -> None:
        """The form of the next race."""
        self._turn("choose")

    def action_kept(self) -> None:
        """The list of kept races."""
        self._list.fill(None)
        self._turn("stored")
        self.run_worker(self._read_list(), group="race", exit_on_error=False)

    async def _read_list(self) -> None:
        try:
            self._list.fill(await asyncio.to_thread(self._stored.listed))
        except StoreProblem as problem:
            self._list.fill(())
            self.notify(f"The races cannot be read: {problem.detail}", severity="warning", markup=False)

    @on(RaceChoice.Changed)
    @on(LanePanel.Resized)
    def _redraw(self) -> None:
        self.model.changed = True
        if self.is_current and self.is_mounted:
            self.tick()

    @on(Plate.Clicked)
    async def _clicked(self, event: Plate.Clicked) -> None:
        if event.plate is self._list and (place := self._list.place_at(event.row)) is not None:
            self._list.cursor = place
            await self.action_enter()

    # what is taken away

    def action_copy(self) -> None:
        """The answer of the marked lane."""
        if self.view == "race":
            self._race_view.copy()

    def action_save(self) -> None:
        """The screen as a picture, and the answers."""
        if self.view == "race":
            self._race_view.save()

    def action_back(self) -> None:
        """To the race that is shown, or else to the dashboard; a race that runs goes on."""
        if self._choice.is_typing:
            self._choice.leave()
        elif self.view != "race" and (self.model.news is not None or self.model.requested is not None):
            self._turn("race")
        else:
            self.app.pop_screen()
