"""RaceModel: the race on the screen, live or replayed from the store; pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from probes.race.race import Race
from probes.race.request import RaceRequest
from probes.race.updates import RaceNews
from probes.sample import Sample
from tui.race.board import RaceBoard
from tui.race.replay import Replay

REST_MS: Final = 1_500.0
"""How long a replayed heat stays on the screen before the next one begins."""


class RaceModel:
    """Applies live news at any time, and shows either that or a replay; a live race goes on unseen behind a replay.

    ``new_heat`` (another heat has begun) and ``changed`` (there is something new) are set back by the screen that
    draws. ``requested`` is a race that was requested and that the engine has not answered yet.
    """

    def __init__(self) -> None:
        self.replay: Replay | None = None
        self.requested: RaceRequest | None = None
        self.new_heat = False
        self.changed = True
        self._live = RaceBoard()
        self._replayed = RaceBoard()
        self._superseded: int | None = None

    @property
    def board(self) -> RaceBoard:
        """What is shown."""
        return self._replayed if self.replay is not None else self._live

    @property
    def news(self) -> RaceNews | None:
        """The newest news of the race that is shown."""
        return self.board.last

    @property
    def is_running(self) -> bool:
        """Whether a live race has been requested, or runs."""
        return self.requested is not None or (self._live.last is not None and self._live.phase != "over")

    @property
    def samples(self) -> Mapping[int, Mapping[str, Sample]]:
        """Those of every heat, by lane."""
        if self.replay is None:
            return self._live.samples
        return {heat.number: {one.lane: one.sample for one in heat.lanes} for heat in self.replay.race.heats}

    def ask(self, request: RaceRequest) -> None:
        """A race was requested: late news of the one before is ignored from now on."""
        if self._live.last is not None:
            self._superseded = self._live.last.started_at
        self.replay, self.requested, self._live = None, request, RaceBoard()
        self._live.apply(RaceNews(0, request, "preparing", 1, ()))  # the lanes are shown before any news
        self.new_heat = self.changed = True

    def apply(self, news: RaceNews) -> None:
        """Apply news of the live race."""
        if news.started_at == self._superseded:
            return
        self.requested = None
        new_heat = self._live.apply(news)
        if self.replay is None:
            self.new_heat, self.changed = self.new_heat or new_heat, True

    def play(self, race: Race, heat: int, speed: float = 1.0) -> None:
        """Replay a heat of a stored race from its start. Raises LookupError where there is no such heat."""
        self.replay, self._replayed = Replay(race, heat, speed), RaceBoard()
        self._apply(self.replay.seek(0.0))

    def step(self, heats: int) -> None:
        """Go so many heats on (negative: back) in the race that is replayed, at the same speed; at an end, nothing."""
        if self.replay is not None:
            race, wanted = self.replay.race, self.replay.heat.number + heats
            if any(heat.number == wanted for heat in race.heats):
                self.play(race, wanted, self.replay.speed)

    def seek(self, to_ms: float) -> None:
        """Go to an instant of the replay."""
        if self.replay is not None:
            if max(to_ms, 0.0) < self.replay.position_ms:
                self._replayed.rewind()
            self._apply(self.replay.seek(to_ms))

    def tick(self, elapsed_ms: float) -> None:
        """Let so much real time pass (ms): a replay goes on, and from heat to heat until the last is over."""
        if self.replay is not None:
            self._apply(self.replay.tick(elapsed_ms))
            if self.replay.rested_ms >= REST_MS:
                self.step(1)

    def _apply(self, updates: Sequence[RaceNews]) -> None:
        for one in updates:
            self.new_heat = self._replayed.apply(one) or self.new_heat
            self.changed = True
