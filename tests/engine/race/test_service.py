"""The course: one race at a time on wishes of a screen, held endpoints, kept races; the engine outlives each one."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest

from probes.config_error import ConfigError, Problem
from probes.endpoint import Endpoint
from probes.engine.race.service import RaceService
from probes.measure.probe import Prober
from probes.race.race import Race
from probes.race.request import RaceRequest
from probes.race.updates import RaceCommand, RaceNews
from probes.sample import Sample
from probes.simulator.behaviour import Behaviour
from probes.simulator.distribution import Constant
from probes.simulator.server import Simulator
from probes.transport.factory import transport_to
from probes.wire import load_dialect
from probes.wire.credentials import Credentials
from tests.samples import endpoint, sample

FAST = Behaviour(output_tokens=Constant(60), tokens_per_s=Constant(1_500), ttft_ms=Constant(10))
LONG = Behaviour(output_tokens=Constant(2_000), tokens_per_s=Constant(100), ttft_ms=Constant(10))
WISH = RaceRequest(("a", "b"), "Tell a story.")


class Stable:
    """An engine as far as races need one; it remembers what it was told."""

    def __init__(self) -> None:
        self.held: list[tuple[str, ...]] = []
        self.spent: list[Sample] = []
        self.reserved: list[str] = []

    def prober(self, one: Endpoint) -> Prober:
        return Prober(one, load_dialect(one.dialect), transport_to(one.base_url, None))

    async def find_key(self, one: Endpoint) -> Credentials | None:
        return None

    def refusal(self, *_: Endpoint) -> str | None:
        return None

    def reserve(self, one: Endpoint) -> Callable[[], None]:
        self.reserved.append(one.name)
        return partial(self.reserved.remove, one.name)

    def spend(self, one: Sample, _: Endpoint) -> None:
        self.spent.append(one)

    def hold(self, racing: Collection[str]) -> None:
        self.held.append(tuple(racing))


class Watched:
    """A course on a simulator of two models, with what was kept and told."""

    def __init__(self, url: str, number: int | None = 7) -> None:
        self.stable = Stable()
        self.kept: list[Race] = []
        self.told: list[RaceNews] = []
        self.number = number
        known = [endpoint(name=name, model=name, base_url=url) for name in ("a", "b", "long")]
        self.course = RaceService(known, self.stable, keep=self._keep, changed=self._tell)

    async def _keep(self, race: Race) -> int | None:
        self.kept.append(race)
        return self.number

    def _tell(self) -> None:
        news = self.course.news()
        assert news is not None
        self.told.append(news)

    async def reached(self, phase: str, heat: int = 1) -> None:
        """Until the race says so."""
        async with asyncio.timeout(60):
            while not (self.told and self.told[-1].phase == phase and self.told[-1].heat >= heat):
                await asyncio.sleep(0.005)


@asynccontextmanager
async def watched(number: int | None = 7) -> AsyncIterator[Watched]:
    async with Simulator({"a": FAST, "b": FAST, "long": LONG}) as simulator:
        one = Watched(simulator.url, number)
        yield one
        await one.course.close()


async def test_a_race_is_run_kept_and_told_and_its_endpoints_are_held_meanwhile():
    async with watched() as one:
        assert one.course.news() is None
        one.course.obey(RaceCommand("start", WISH))
        await one.reached("over")
        await one.course.close()
        assert one.stable.held == [("a", "b"), ()]
        assert len(one.stable.spent) == 2
        assert one.stable.reserved == []
        [race] = one.kept
        assert len(race.heats) == 1
        last = one.course.news()
        assert last is not None
        assert (last.phase, last.number) == ("over", 7)


async def test_a_race_that_no_store_takes_is_told_without_a_number():
    async with watched(number=None) as one:
        one.course.obey(RaceCommand("start", WISH))
        await one.reached("over")
        await one.course.close()
        assert one.told[-1].number is None


async def test_a_race_stopped_before_its_first_finish_is_not_kept():
    async with watched() as one:
        one.course.obey(RaceCommand("start", replace(WISH, lanes=("a", "long"))))
        await one.reached("running")
        assert one.stable.reserved == ["a", "long"]
        one.course.obey(RaceCommand("stop"))
        await one.course.close()
        assert one.stable.reserved == []
        assert one.kept == []
        assert one.told[-1].stopped == "stopped by hand"
        assert one.stable.held[-1] == ()


async def test_a_race_stopped_before_it_has_begun_does_not_run():
    async with watched() as one:
        one.course.obey(RaceCommand("start", WISH))
        one.course.obey(RaceCommand("stop"))
        await one.course.close()
        assert (one.kept, one.stable.spent) == ([], [])
        assert (one.told[-1].phase, one.told[-1].stopped) == ("over", "stopped by hand")
        assert one.stable.held[-1] == ()


async def test_of_two_races_asked_for_at_once_the_later_one_runs_unless_it_is_stopped_too():
    async with watched() as one:
        one.course.obey(RaceCommand("start", replace(WISH, lanes=("a", "long"))))
        one.course.obey(RaceCommand("start", WISH))
        await one.reached("over")
        assert one.told[-1].wish == WISH
        await one.course.close()
        assert [race.wish.lanes for race in one.kept] == [("a", "b")]
        one.course.obey(RaceCommand("start", replace(WISH, lanes=("a", "long"))))
        await one.reached("running")
        one.course.obey(RaceCommand("start", WISH))
        one.course.obey(RaceCommand("stop"))
        await one.course.close()
        assert len(one.kept) == 1
        assert (one.told[-1].phase, one.told[-1].stopped) == ("over", "stopped by hand")


async def test_another_race_takes_the_place_of_the_one_that_runs():
    async with watched() as one:
        one.course.obey(RaceCommand("start", replace(WISH, lanes=("a", "long"))))
        await one.reached("running")
        one.course.obey(RaceCommand("start", WISH))
        await one.reached("over")
        await one.course.close()
        assert [race.wish.lanes for race in one.kept] == [("a", "b")]


async def test_a_lane_that_is_not_known_is_said_and_the_next_race_runs_all_the_same(caplog: pytest.LogCaptureFixture):
    async with watched() as one:
        with caplog.at_level(logging.WARNING):
            one.course.obey(RaceCommand("start", replace(WISH, lanes=("a", "nobody"))))
            await one.course.close()
        assert "nobody" in caplog.text
        assert one.stable.held == []
        [refused] = one.told
        assert (refused.phase, refused.lanes) == ("over", ())
        assert "nobody" in (refused.stopped or "")
        one.told.clear()
        one.course.obey(RaceCommand("start", WISH))
        await one.reached("over")
        await one.course.close()
        assert [race.wish.lanes for race in one.kept] == [("a", "b")]
        assert (one.told[-1].phase, one.told[-1].stopped) == ("over", None)


@pytest.mark.parametrize(
    "gone",
    [ConfigError((Problem("environment: SSL_CERT_FILE", "/x.pem", "gone"),)), ValueError("/x.pem: no such file")],
    ids=lambda error: type(error).__name__,
)
async def test_a_file_that_has_gone_since_it_was_checked_is_said_in_place_of_a_race(gone: Exception):
    async with watched() as one:

        def prober(_: Endpoint) -> Prober:
            raise gone

        one.stable.prober = prober  # type: ignore[method-assign]
        one.course.obey(RaceCommand("start", WISH))
        await one.course.close()
        [refused] = one.told
        assert (refused.phase, refused.lanes, "/x.pem" in (refused.stopped or "")) == ("over", (), True)
        assert one.stable.held == []


async def test_a_race_that_meets_a_defect_of_ours_is_over_and_says_so(caplog: pytest.LogCaptureFixture):
    async with watched() as one:

        async def broken(_: Endpoint) -> None:
            raise RuntimeError("no such thing")

        one.stable.find_key = broken  # type: ignore[assignment]
        one.course.obey(RaceCommand("start", WISH))
        await one.reached("over", heat=0)
        await one.course.close()
        assert (one.told[-1].phase, one.stable.held, one.stable.reserved) == ("over", [("a", "b"), ()], [])
        assert "RuntimeError" in (one.told[-1].stopped or "")
        assert "racing a, b" in caplog.text


async def test_the_speed_of_an_answer_that_is_not_counted_yet_is_made_from_earlier_ones():
    async with watched() as one:
        long = sample(endpoint="long", token_source="usage", output_tokens=10, output_chars=20, tokens_per_s=9.0)
        one.course.hear(long, "")
        one.course.obey(RaceCommand("start", replace(WISH, lanes=("a", "long"))))
        async with asyncio.timeout(60):
            while not (one.told and one.told[-1].lanes and one.told[-1].lanes[1].progress.events):
                await asyncio.sleep(0.001)
        lane = next(news.lanes[1] for news in one.told if news.lanes and news.lanes[1].progress.events)
        assert lane.progress.tokens == pytest.approx(lane.progress.chars / 2)
