"""ShownRace: the race on the screen, live or told again from the store; pure."""

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
    """Takes live news at any time, and shows either that or a replay; a live race goes on unseen behind a replay.

    ``anew`` and ``changed`` are for whoever draws, who sets them back: another heat has begun; there is something new.
    """

    def __init__(self) -> None:
        self.replay: Replay | None = None
        self.asked: RaceRequest | None = None
        self.anew = False
        self.changed = True
        self._live = RaceBoard()
        self._told = RaceBoard()
        self._past: int | None = None

    @property
    def board(self) -> RaceBoard:
        """What is shown."""
        return self._told if self.replay is not None else self._live

    @property
    def news(self) -> RaceNews | None:
        """The last word of what is shown."""
        return self.board.last

    @property
    def is_running(self) -> bool:
        """Whether a live race is asked for, or runs."""
        return self.asked is not None or (self._live.last is not None and self._live.phase != "over")

    @property
    def samples(self) -> Mapping[int, Mapping[str, Sample]]:
        """Those of every heat, by lane."""
        if self.replay is None:
            return self._live.samples
        return {heat.number: {one.lane: one.sample for one in heat.lanes} for heat in self.replay.race.heats}

    def ask(self, request: RaceRequest) -> None:
        """A race was asked for: what still comes of the one before is not heard any more."""
        if self._live.last is not None:
            self._past = self._live.last.started_at
        self.replay, self.asked, self._live = None, request, RaceBoard()
        self._live.tell(RaceNews(0, request, "preparing", 1, ()))  # the lanes are there before anybody speaks
        self.anew = self.changed = True

    def tell(self, news: RaceNews) -> None:
        """Take news of the live race."""
        if news.started_at == self._past:
            return
        self.asked = None
        fresh = self._live.tell(news)
        if self.replay is None:
            self.anew, self.changed = self.anew or fresh, True

    def play(self, race: Race, heat: int, speed: float = 1.0) -> None:
        """Show a heat of a kept race, from the gun. Raises LookupError where there is no such heat."""
        self.replay, self._told = Replay(race, heat, speed), RaceBoard()
        self._hear(self.replay.seek(0.0))

    def step(self, heats: int) -> None:
        """Show so many heats later, or earlier, of the race that is replayed, where there are any; at the same pace."""
        if self.replay is not None:
            race, wanted = self.replay.race, self.replay.heat.number + heats
            if any(heat.number == wanted for heat in race.heats):
                self.play(race, wanted, self.replay.speed)

    def seek(self, to_ms: float) -> None:
        """Go to an instant of the replay."""
        if self.replay is not None:
            if max(to_ms, 0.0) < self.replay.position_ms:
                self._told.rewind()
            self._hear(self.replay.seek(to_ms))

    def tick(self, elapsed_ms: float) -> None:
        """Let so much real time pass: a replay goes on, and from heat to heat until the last is over."""
        if self.replay is not None:
            self._hear(self.replay.tick(elapsed_ms))
            if self.replay.rested_ms >= REST_MS:
                self.step(1)

    def _hear(self, told: Sequence[RaceNews]) -> None:
        for one in told:
            self.anew = self._told.tell(one) or self.anew
            self.changed = True
