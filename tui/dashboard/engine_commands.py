"""EngineCommandScreen: a screen with keys that command the engine to probe, pause and resume endpoints."""

from collections.abc import Callable
from typing import Final, Literal

from probes.feed.messages import Command
from tui.dashboard.probe_now import probe_now
from tui.screens.keyed_screen import KeyedScreen
from tui.sources.source import Source
from tui.state.fleet import FleetState
from tui.state.view import Dashboard, EndpointView
from tui.style.palette import Phase

NOT_RUNNING: Final = "The engine is not running."

NO_ENGINE: Final[dict[Phase, str]] = {
    "starting": "The engine is starting.",
    "lost": NOT_RUNNING,
    "attached": "Another recorder holds the store; this screen reads along.",
    "unrecorded": "Nobody records into this store; this screen only reads it.",
}
"""Why nobody takes commands, by the phase of the link."""


class EngineCommandScreen(KeyedScreen[None]):
    """``source`` takes the commands, ``fleet`` knows the endpoints; ``selected`` is an endpoint's name.

    ``board`` is what is drawn, None before the first picture. ``now`` gives the present in ms since the epoch.
    """

    def __init__(self, fleet: FleetState, source: Source, now: Callable[[], int]) -> None:
        super().__init__()
        self.now = now
        self.fleet = fleet
        self.source = source
        self.selected: str | None = None
        self.board: Dashboard | None = None

    @property
    def no_engine(self) -> str:
        """Why no engine of our own takes commands; "" where one does."""
        return NO_ENGINE.get(self.fleet.link.phase, "")

    def chosen(self) -> EndpointView | None:
        """The selected endpoint as it is drawn."""
        board = self.board
        return next((one for one in board.endpoints if one.name == board.selected), None) if board else None

    def _command(self, do: Literal["pause", "resume"], endpoint: str | None, words: str) -> None:
        if self.source.send(Command(do, endpoint)):
            self.notify(words, timeout=2, markup=False)
        else:
            self.notify(self.no_engine or NOT_RUNNING, severity="warning")

    def action_probe(self) -> None:
        """Probe the selected endpoint now, and say what keeps it from that, if anything does."""
        view = self.chosen()
        if view is None:
            return
        if self.no_engine:
            self.notify(self.no_engine, severity="warning")
            return
        plan = probe_now(view, self.fleet.engine, self.now())
        if plan.looks_for_keys:
            self.source.send(Command("find_keys"))
        if plan.sends and not self.source.send(Command("probe", view.name)):
            self.notify(NOT_RUNNING, severity="warning")
        elif plan.is_warning:
            self.notify(plan.words, severity="warning", markup=False)
        else:
            self.notify(plan.words, timeout=2, markup=False)

    def action_pause(self) -> None:
        """Pause or resume the selected endpoint."""
        if (view := self.chosen()) is not None:
            do: Literal["pause", "resume"] = "resume" if view.monitor.paused else "pause"
            self._command(do, view.name, f"{do.capitalize()} {view.name}")

    def action_pause_all(self) -> None:
        """Pause or resume all endpoints."""
        paused = self.fleet.engine is not None and self.fleet.engine.paused
        self._command("resume" if paused else "pause", None, "Resume all" if paused else "Pause all")
