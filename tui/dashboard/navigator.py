"""Travel: what the dashboard draws where memory does not reach: spans of the store, asked for as the lens moves."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from probes.stats.time_range import TimeRange
from tui.state.fleet import FleetState, Recent
from tui.state.read_rollups import SampleQuestion, read_recent, read_stretch
from tui.state.rollup_figures import Question, RollupWindow
from tui.state.view import Dashboard
from tui.state.view_options import ViewOptions
from tui.time.latest_query import LatestQuery
from tui.time.period import Period, dates

SOONEST_MS: Final = 10_000
LATEST_MS: Final = 60_000
"""A long window of the present is read again after a 60th of a slice, within these bounds."""

NO_STORE: Final = "there is no store yet"


class HistoryNavigator:
    """The stretch that is drawn, and the single samples of its selected endpoint; ``work`` runs what reads them.

    What was read last is drawn until what is wanted now is there.
    """

    def __init__(
        self, fleet: FleetState, now: Callable[[], int], work: Callable[[Coroutine[Any, Any, None]], object]
    ) -> None:
        self._fleet = fleet
        self._now = now
        self._work = work
        self._stretches: LatestQuery[Question, RollupWindow] = LatestQuery(read_stretch)
        self._recents: LatestQuery[SampleQuestion, Recent] = LatestQuery(lambda url, asked: [read_recent(url, asked)])
        self._wanted: Question | None = None

    def stretch(self, lens: ViewOptions, columns: int, at: int) -> RollupWindow | None:
        """What to draw through a lens, ``at`` being the present or the instant of freezing; None before it is read."""
        self._wanted = question(self._fleet, lens, columns, at)
        self._ask(self._stretches, self._wanted)
        return self._stretches.found

    def recent(self, board: Dashboard) -> Recent:
        """Single samples of the selected endpoint within a past that is shown."""
        if board.selected is None:
            return Recent()
        asked = SampleQuestion(board.selected, TimeRange(board.at - board.window_ms, board.at), board.vantage)
        self._ask(self._recents, asked)
        of, found = self._recents.of, self._recents.found
        return found if found and of and of.endpoint == board.selected else Recent()

    def forget(self) -> None:
        """The present is enough again."""
        self._wanted = None
        self._stretches.forget()
        self._recents.forget()

    @property
    def trouble(self) -> str:
        """Why what is wanted is not drawn; empty while nothing is wrong."""
        if self._wanted is not None and self._fleet.store_url is None:
            return NO_STORE
        return self._stretches.problem

    @property
    def loading(self) -> str:
        """What is wanted and not drawn yet, in a few words; empty where all is there."""
        asked = self._wanted
        if asked is None or asked.like(self._stretches.of):
            return ""
        place = f" from {asked.vantage}" if asked.vantage else ""
        return (Period(asked.length_ms).words if asked.live else dates(*asked.span, self._now())) + place

    def _ask(self, lookback: LatestQuery[Any, Any], asked: object) -> None:
        if (url := self._fleet.store_url) is not None and lookback.want(asked, self._now()):
            self._work(lookback.run(url, self._now))


def question(fleet: FleetState, lens: ViewOptions, columns: int, at: int) -> Question:
    """What to ask for a lens; in the present the same for a while, so that it is not read at every tick."""
    period, count = lens.period, max(columns, 2)
    pause = min(max(period.length_ms // (count - 1) // 60, SOONEST_MS), LATEST_MS)
    until = at // pause * pause if period.until is None else period.until
    facts = tuple(one.facts for one in fleet.endpoints.values())
    return Question(until, period.length_ms, count, facts, lens.vantage, period.live)
