"""The top line: how much of the window there are samples of, and what the engine is doing."""

from math import inf

from tests.samples import sample
from tests.tui import fabric
from tests.tui.fabric import HABITS, HOUR, NOW
from tui.dashboard.header import HeaderLine
from tui.state.fleet import FleetState
from tui.state.history import LoadedHistory
from tui.state.view_options import ViewOptions
from tui.time.period import LENGTHS, Period
from tui.widgets.one_line import fitted

SIX = ViewOptions(Period(LENGTHS["6 h"]))


def header(fleet, width=200):
    """The words of the line."""
    line = HeaderLine()
    line.show(fleet.dashboard(SIX, 20, NOW), SIX, NOW)
    return fitted(line._left, line._right, width).plain


def young(minutes):
    made = FleetState(now=NOW)
    made.apply(fabric.hello(), NOW)
    made.apply(fabric.frame([sample(endpoint=HABITS[0].name, started_at=NOW - minutes * 60_000)]), NOW)
    return made


def test_a_window_that_is_still_filling_says_how_far_it_is():
    made = young(4)
    assert "so far" not in header(made), "the store has not been read"
    made.load(LoadedHistory({}, oldest_at=inf))
    assert "window 6 h  4 m so far  " in header(made)
    assert "so far" not in header(made, 60), "that is told where there is room"
    made.load(LoadedHistory({}, oldest_at=NOW - 7 * HOUR))
    assert "so far" not in header(made)
