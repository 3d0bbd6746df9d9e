"""SelftestApp: the screen of a selftest: the real one, with two lanes of streaming text over the dashboard."""

from probes.selftest.rehearsal import rehearsal
from tui.app import InftopApp

AGAIN_S = 1.0
"""How often, in seconds, it is checked whether the rehearsal is over, to start it again."""


class SelftestApp(InftopApp):
    """Redraws as much as the screen ever does while the engine measures."""

    def on_mount(self) -> None:
        """Open the race view as soon as there is a picture."""
        self.call_after_refresh(self._rehearse)

    async def _rehearse(self) -> None:
        race = rehearsal()
        screen = await self.open_race((), None)
        screen.play(race, 1)

        def again() -> None:
            if screen.model.replay is None or screen.model.replay.is_over:
                screen.play(race, 1)

        self.set_interval(AGAIN_S, again)
