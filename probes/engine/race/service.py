"""Course: where one race at a time is run, on wishes of a screen."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Protocol

from probes.config.load import ConfigError
from probes.config.select import UnknownEndpoint
from probes.endpoint import Endpoint
from probes.engine.race.race_task import RaceTask, lanes
from probes.measure.own_fault import describe_defect
from probes.measure.probe import Prober
from probes.race.progress import chars_per_token_of
from probes.race.race import Race
from probes.race.request import RaceRequest
from probes.race.updates import RaceCommand, RaceNews
from probes.sample import Sample
from probes.wire.credentials import Credentials

log = logging.getLogger(__name__)


class EngineServices(Protocol):
    """What races need of an engine."""

    def prober(self, endpoint: Endpoint) -> Prober:
        """A prober of an endpoint. Raises ConfigError and ValueError where a file that it needs cannot be used."""

    async def find_key(self, endpoint: Endpoint) -> Credentials | None:
        """What an endpoint's requests need. Raises KeyMissing."""

    def refusal(self, *endpoints: Endpoint) -> str | None:
        """Why these must not be probed now, one probe each; None while there is budget for it."""

    def reserve(self, endpoint: Endpoint) -> Callable[[], None]:
        """Set aside what a probe that begins may cost; to be called when it has ended, and been counted."""

    def spend(self, sample: Sample, endpoint: Endpoint) -> None:
        """Count what a sample of an endpoint cost."""

    def hold(self, racing: Collection[str]) -> None:
        """Have nobody else probe the endpoints of these names, until none is named."""


class RaceService:
    """Starts and stops races of ``endpoints``. Nothing that goes wrong with one ends the engine.

    ``stable`` gives probers, keys and the budget. ``keep`` stores a race and gives its number, None where it could
    not; ``changed`` is told, at most 20 times a second, that there is `news`.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        stable: EngineServices,
        *,
        keep: Callable[[Race], Awaitable[int | None]],
        changed: Callable[[], None],
        simulated: bool = False,
        vantage: str = "local",
    ) -> None:
        self._endpoints = tuple(endpoints)
        self._stable = stable
        self._keep = keep
        self._changed = changed
        self._simulated = simulated
        self._vantage = vantage
        self._racing: RaceTask | None = None
        self._refused: RaceNews | None = None
        self._task: asyncio.Task[None] | None = None
        self._chars_per_token: dict[str, float] = {}

    def obey(self, command: RaceCommand) -> None:
        """Start a race, in the place of one that runs; or stop that, even where it has not begun yet."""
        self.stop()
        if command.do == "stop" or (wish := command.wish) is None:
            return
        try:
            probers = [self._stable.prober(one) for one in lanes(wish, self._endpoints)]
        except (
            UnknownEndpoint,
            ConfigError,
            ValueError,
        ) as error:  # a file it needs may have gone since it was checked
            self._refuse(wish, str(error))
            return
        self._refused = None
        self._racing = RaceTask(
            wish,
            probers,
            find_key=self._stable.find_key,
            refusal=self._stable.refusal,
            reserve=self._stable.reserve,
            spent=self._stable.spend,
            changed=self._changed,
            chars_per_token=self._chars_per_token,
            simulated=self._simulated,
            vantage=self._vantage,
        )
        self._task = asyncio.create_task(self._run(self._racing, self._task))

    def stop(self) -> None:
        """Stop the race that runs, or is about to, if one does."""
        if self._racing is not None:
            self._racing.stop("stopped by hand")

    async def close(self) -> None:
        """Stop, and wait until what was run is kept."""
        self.stop()
        if self._task is not None:
            await asyncio.wait({self._task})

    def news(self) -> RaceNews | None:
        """What happened in the race since the last time; None where there has been none."""
        if self._refused is not None:
            return self._refused
        return self._racing.news() if self._racing is not None else None

    def hear(self, sample: Sample, _: str) -> None:
        """Learn from a sample how long an endpoint's tokens are."""
        if (found := chars_per_token_of(sample)) is not None:
            self._chars_per_token[sample.endpoint] = found

    def _refuse(self, wish: RaceRequest, why: str) -> None:
        """Say that a race is over that did not begin, or met a defect; a screen waits for a word of it."""
        log.warning("%s", why)
        started_at = time.time_ns() // 1_000_000
        self._refused = RaceNews(started_at, wish, "over", heat=1, lanes=(), stopped=why)
        self._changed()

    async def _run(self, racing: RaceTask, before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await asyncio.wait({before})
        names = racing.wish.lanes
        self._stable.hold(names)
        try:
            race = await racing.run()
        except Exception as error:  # a defect of ours is one race less, not the end of the engine
            log.exception("racing %s", ", ".join(names))
            self._refuse(racing.wish, describe_defect(error))
            return
        finally:
            self._stable.hold(())
        if race.heats and (number := await self._keep(race)) is not None:
            racing.kept(number)
