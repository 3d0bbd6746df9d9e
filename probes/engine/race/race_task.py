"""Racing: a race while it is run, heat by heat, and its news for whoever watches."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from probes.config.select import choose
from probes.endpoint import Endpoint
from probes.engine.race.differences import differences
from probes.engine.race.lane_runner import LaneRunner, finished
from probes.engine.race.start_barrier import StartBarrier
from probes.keys.secret import KeyMissing
from probes.measure.build_sample import unmeasured_sample
from probes.measure.probe import Prober
from probes.measure.prompt import nonce
from probes.outcome import Outcome
from probes.race.heat import Heat, LaneResult
from probes.race.progress import chars_per_token_of
from probes.race.race import LaneFacts, Race
from probes.race.recording import Recording
from probes.race.request import RaceRequest
from probes.race.updates import Phase, RaceNews
from probes.race.verdict import judge
from probes.sample import Sample
from probes.wire.credentials import Credentials

BETWEEN_S: Final = 0.5
"""Between two heats: a server that closes after its answer has then been heard to."""

FRAME_S: Final = 0.05
"""How often watchers are told that there is news, at most."""


class RaceTask:
    """One race. ``probers`` are its lanes, made from `lanes`; each keeps its connection from heat to heat.

    ``find_key`` finds a lane's key, ``refusal`` says why these endpoints must not be probed now, ``reserve`` sets aside
    what a probe may cost until what it gives is called, ``spent`` is told every sample and its endpoint, ``changed`` at
    most 20 times a second that there is `news`.
    """

    def __init__(
        self,
        wish: RaceRequest,
        probers: Sequence[Prober],
        *,
        find_key: Callable[[Endpoint], Awaitable[Credentials | None]],
        refusal: Callable[..., str | None] = lambda *_: None,
        reserve: Callable[[Endpoint], Callable[[], None]] = lambda _: lambda: None,
        spent: Callable[[Sample, Endpoint], None] = lambda _sample, _endpoint: None,
        changed: Callable[[], None] = lambda: None,
        chars_per_token: Mapping[str, float] | None = None,
        between_s: float = BETWEEN_S,
        simulated: bool = False,
        vantage: str = "local",
    ) -> None:
        self.wish = wish
        self._between_s = between_s
        self._probers = tuple(probers)
        self._find_key = find_key
        self._refusal = refusal
        self._reserve = reserve
        self._spent = spent
        self._changed = changed
        self._chars_per_token = dict(chars_per_token or {})
        self._stopped: str | None = None
        self._heats: list[Heat] = []
        self._runners: list[LaneRunner] = []
        self._phase: Phase = "preparing"
        self._task: asyncio.Task[None] | None = None
        self._race = Race(
            number=None,
            started_at=time.time_ns() // 1_000_000,
            wish=wish,
            lanes=tuple(LaneFacts(one.name, one.provider, one.model, one.price) for one in self._endpoints),
            heats=(),
            verdict=judge((), wish.lanes),
            differences=differences(self._endpoints),
            simulated=simulated,
            vantage=vantage,
        )

    @property
    def _endpoints(self) -> list[Endpoint]:
        return [one.endpoint for one in self._probers]

    def _is_stopped(self) -> bool:
        return self._stopped is not None

    @property
    def race(self) -> Race:
        """The race as far as it is run."""
        return self._race

    async def run(self) -> Race:
        """Run all heats, or until `stop`, the budget or the evidence says that it is enough."""
        telling = asyncio.create_task(self._tell())
        try:
            while (why := self._why_not_another()) is None:
                await self._heat()
            self._stopped = why or None
        finally:
            telling.cancel()
            for one in self._probers:
                one.close()
        self._conclude("over")
        self._changed()
        return self._race

    def stop(self, why: str = "stopped") -> None:
        """End it: what runs is broken off, and does not count."""
        self._stopped = self._stopped or why
        if self._task is not None:
            self._task.cancel()

    def kept(self, number: int) -> None:
        """It is in the store now."""
        self._race = replace(self._race, number=number)
        self._changed()

    def news(self) -> RaceNews:
        """What happened since the last time; text is told only once."""
        now = time.monotonic_ns()
        race = self._race
        return RaceNews(
            started_at=race.started_at,
            wish=self.wish,
            phase=self._phase,
            heat=len(self._heats) + (self._phase in ("preparing", "running")),
            lanes=tuple(one.news(now) for one in self._runners),
            skew_ms=skew_ms([one.sent for one in self._runners]),
            differences=race.differences,
            verdict=race.verdict if self._heats else None,
            stopped=race.stopped,
            cost_usd=self._cost(),
            number=race.number,
        )

    def _why_not_another(self) -> str | None:
        """Why no other heat is run: "" where the race has simply come to its end."""
        done = len(self._heats)
        if self._stopped:
            return self._stopped
        if done >= self.wish.most_heats:
            return ""
        if self.wish.until_decided and done >= 2 and self._race.verdict.winner is not None:
            return "decided"
        if (why := self._refusal(*self._endpoints)) is not None:
            return why
        cost, cap = self._cost(), self.wish.budget_usd
        if cap is not None and cost is not None and done and cost + cost / done > cap:
            return f"the race's budget of ${cap:,.2f} would be passed"
        return None

    async def _heat(self) -> None:
        """One heat, for which the budget was found to suffice. What is broken off by `stop` is no heat."""
        with contextlib.ExitStack() as reserved:
            for endpoint in self._endpoints:
                reserved.callback(self._reserve(endpoint))
            await self._reserved_heat()

    async def _reserved_heat(self) -> None:
        if self._heats:
            await self._rest()
        if self._is_stopped():
            return
        self._phase = "preparing"
        order = rotated(range(len(self._probers)), len(self._heats))
        gun = StartBarrier(order)
        self._runners = [
            LaneRunner(one, lane, self._chars_per_token.get(one.endpoint.name))
            for lane, one in enumerate(self._probers)
        ]
        started_at, word = time.time_ns() // 1_000_000, nonce()
        runs = [asyncio.create_task(self._run(one, word, gun)) for one in self._runners]
        self._task = asyncio.create_task(_all(runs))
        self._phase = "running"
        try:
            await self._task
        except asyncio.CancelledError:
            if not self._is_stopped():
                raise
            return
        finally:
            self._task = None
        results = placed([one.result for one in self._runners if one.result is not None])
        for runner, result in zip(self._runners, results, strict=True):
            runner.place = result.place
            self._learn(result)
        self._heats.append(
            Heat(
                number=len(self._heats) + 1,
                started_at=started_at,
                order=tuple(self.wish.lanes[one] for one in order),
                skew_ms=skew_ms([one.recording.sent for one in results]),
                nonce=word,
                lanes=results,
            )
        )
        self._conclude("between")

    async def _run(self, runner: LaneRunner, nonce: str, gun: StartBarrier) -> None:
        endpoint = runner.endpoint
        try:
            credentials = await self._find_key(endpoint)
        except KeyMissing as missing:
            sample = unmeasured_sample(endpoint, Outcome.NO_KEY, str(missing), vantage=self._race.vantage)
            runner.refuse(gun, LaneResult(endpoint.name, sample, Recording(), ""))
            return
        await runner.prepare(credentials)
        result = await runner.run(credentials, nonce, gun)
        self._spent(result.sample, endpoint)

    async def _rest(self) -> None:
        self._task = asyncio.create_task(asyncio.sleep(self._between_s))
        try:
            await self._task
        except asyncio.CancelledError:
            if not self._is_stopped():
                raise
        finally:
            self._task = None

    def _conclude(self, phase: Literal["between", "over"]) -> None:
        """What the heats so far come to."""
        self._phase = phase
        heats = tuple(self._heats)
        self._race = replace(
            self._race,
            heats=heats,
            verdict=judge(heats, self.wish.lanes, every_heat=self.wish.until_decided),
            stopped=self._stopped,
        )

    def _learn(self, result: LaneResult) -> None:
        """How many characters a token of this lane has."""
        if (found := chars_per_token_of(result.sample)) is not None:
            self._chars_per_token[result.lane] = found

    def _cost(self) -> float | None:
        """What all heats cost so far; None where no price is known."""
        costs = [one.sample.cost_usd for heat in self._heats for one in heat.lanes if one.sample.cost_usd is not None]
        return sum(costs) if costs else None

    async def _tell(self) -> None:
        while True:
            self._changed()
            await asyncio.sleep(FRAME_S)


def lanes(wish: RaceRequest, endpoints: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """The endpoints of a wish, made to be asked the same. Raises UnknownEndpoint."""
    return tuple(as_lane(wish, one) for one in choose(endpoints, wish.lanes))


def as_lane(wish: RaceRequest, endpoint: Endpoint) -> Endpoint:
    """An endpoint, made to be asked what a wish says; a system prompt stays its own."""
    return replace(
        endpoint,
        prompt=wish.prompt,
        messages=(),
        expect=wish.expect,
        max_output_tokens=wish.max_output_tokens,
        connection="cold" if wish.cold else "warm",
    )


def placed(results: Sequence[LaneResult]) -> tuple[LaneResult, ...]:
    """With the places at the finish, by who was over first; equal times share a place."""
    ends = sorted(one.recording.end for one in results if finished(one) and one.recording.end is not None)
    return tuple(
        replace(one, place=ends.index(one.recording.end) + 1)
        if finished(one) and one.recording.end is not None
        else one
        for one in results
    )


def skew_ms(sent: Sequence[int | None]) -> float | None:
    """From the first request to the last one, ms; None where fewer than two went out. ``sent`` in ns."""
    known = [one for one in sent if one is not None]
    return (max(known) - min(known)) / 1e6 if len(known) > 1 else None


def rotated(order: Sequence[int], by: int) -> tuple[int, ...]:
    """Who starts first takes turns."""
    by %= len(order)
    return (*order[by:], *order[:by])


async def _all(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Until all are done; all are broken off where this is."""
    try:
        await asyncio.gather(*tasks)
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
