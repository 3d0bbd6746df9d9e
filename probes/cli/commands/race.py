"""``race``: models head to head without a screen: a live line for each lane, then the verdict."""

import asyncio
import json
import logging
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probes.cli.output.race_lines import closing_lines, heat_lines, live_lines
from probes.config.file import find_config, read_small_text
from probes.config.load import load, race_prompts
from probes.config.select import UnknownEndpoint
from probes.endpoint import Endpoint
from probes.engine.race.lanes import lane_endpoints
from probes.engine.race.race_task import RaceTask
from probes.engine.session import open_engine, open_plan
from probes.race.race import Race
from probes.race.request import FEWEST_LANES, MOST_LANES, InvalidRaceRequest, NamedPrompt, RaceRequest
from probes.race.result import news_record, result
from probes.race.updates import RaceNews
from probes.signals import stop_on_signals
from probes.sockets import event_loop as loop
from probes.store.problem import StoreProblem
from probes.store.races import keep

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RaceArguments:
    """What a command line says of a race: ``words`` are lanes, and behind them perhaps a prompt."""

    words: tuple[str, ...]
    prompt_name: str | None = None
    prompt_file: Path | None = None
    max_output_tokens: int = 512
    heats: int = 5
    max_heats: int | None = None
    until_decided: bool = False
    budget_usd: float | None = None
    cold: bool = False


def race(config: Path | None, asked: RaceArguments, *, demo: bool, as_json: bool) -> bool:
    """Run a race and print it; whether any lane came to the finish.

    Raises ConfigError, UnknownEndpoint, WrongWish and OSError.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    return loop.run(_race(config, asked, demo=demo, as_json=as_json))


def wished(config: Path | None, asked: RaceArguments, *, demo: bool) -> RaceRequest:
    """The race that is asked for, of a configuration or a demo; nothing is run. Raises as `race` does."""
    read = load(find_config(config))
    endpoints = read.endpoints
    if demo:
        from probes.simulator.demo.demo import demo_endpoints

        endpoints = demo_endpoints("")
    return wish_of(asked, endpoints, race_prompts(read))


def wish_of(asked: RaceArguments, endpoints: Sequence[Endpoint], prompts: Sequence[NamedPrompt]) -> RaceRequest:
    """The race that is asked for. Raises UnknownEndpoint, WrongWish and OSError."""
    known = [one.name for one in endpoints]
    names, rest = list(asked.words), ""
    if len(names) > FEWEST_LANES and names[-1] not in known and " " in names[-1].strip():
        rest = names.pop()
    if unknown := next((one for one in names if one not in known), None):
        raise UnknownEndpoint(unknown, known)
    if not FEWEST_LANES <= len(names) <= MOST_LANES:
        raise InvalidRaceRequest(f"name {FEWEST_LANES} to {MOST_LANES} endpoints to race, not {len(names)}")
    prompt = _prompt(asked, rest, prompts)
    return RaceRequest(
        lanes=tuple(names),
        prompt=prompt.text,
        prompt_name=prompt.name or None,
        expect=prompt.expect,
        max_output_tokens=asked.max_output_tokens,
        heats=asked.heats,
        max_heats=asked.max_heats,
        until_decided=asked.until_decided,
        budget_usd=asked.budget_usd,
        cold=asked.cold,
    )


def _prompt(asked: RaceArguments, written: str, prompts: Sequence[NamedPrompt]) -> NamedPrompt:
    if sum((bool(written), asked.prompt_name is not None, asked.prompt_file is not None)) > 1:
        raise InvalidRaceRequest("write a prompt, name one or give a file: only one of them")
    if asked.prompt_file is not None:
        try:
            return NamedPrompt(asked.prompt_file.name, read_small_text(asked.prompt_file))
        except ValueError as error:
            raise InvalidRaceRequest(f"{asked.prompt_file}: {error}") from None
    if written:
        return NamedPrompt("", written)
    by_name = {one.name: one for one in prompts}
    if asked.prompt_name is not None and asked.prompt_name not in by_name:
        raise InvalidRaceRequest(f"no prompt is named {asked.prompt_name!r}. Known: {', '.join(by_name)}")
    return by_name[asked.prompt_name] if asked.prompt_name else prompts[0]


async def _race(config: Path | None, asked: RaceArguments, *, demo: bool, as_json: bool) -> bool:
    stop = asyncio.Event()
    with stop_on_signals(stop):
        async with open_plan(config, demo=demo) as plan, open_engine(plan, watching=False) as engine:
            wish = wish_of(asked, plan.endpoints, race_prompts(load(find_config(config))))
            show = _JsonLines() if as_json else _LiveLines(sys.stderr.isatty())
            racing: RaceTask = RaceTask(
                wish,
                [engine.make_prober(one) for one in lane_endpoints(wish, plan.endpoints)],
                engine,
                on_change=lambda: show.news(racing),
                simulated=plan.simulated,
                vantage=plan.vantage,
            )
            ended = asyncio.Event()
            running = asyncio.create_task(engine.run(ended))
            stopping = asyncio.create_task(_stop_when(stop, racing.stop))
            run = await racing.run()
            stopping.cancel()
            ended.set()
            await running
            if run.heats and not demo:
                run = await asyncio.to_thread(_kept, plan.store_url, run)
            show.end(run)
    return any(one.place is not None for heat in run.heats for one in heat.lanes)


async def _stop_when(stop: asyncio.Event, act: Callable[[str], None]) -> None:
    await stop.wait()
    act("stopped by hand")


def _kept(url: str, run: Race) -> Race:
    """The race with its number in the store; without where the store does not take it, which is said and no more."""
    from dataclasses import replace

    try:
        return replace(run, number=keep(url, run))
    except StoreProblem as problem:
        log.warning("the race is not kept: %s", problem.detail)
        return run


class _JsonLines:
    """News and the result as JSON lines on standard output."""

    def news(self, racing: RaceTask) -> None:
        _say(json.dumps(news_record(racing.news())))

    def end(self, run: Race) -> None:
        _say(json.dumps(result(run)))


class _LiveLines:
    """Live lines on standard error where that is a terminal; heats and verdict on standard output."""

    def __init__(self, live: bool) -> None:
        self._live = live
        self._drawn = 0
        self._heats = 0

    def news(self, racing: RaceTask) -> None:
        heats = racing.race.heats
        if len(heats) > self._heats:
            self._wipe()
            for heat in heats[self._heats :]:
                _say("\n".join(heat_lines(heat)))
            self._heats = len(heats)
        news = racing.news()
        if self._live and news.phase == "running":
            self._draw(news)

    def end(self, run: Race) -> None:
        self._wipe()
        _say("\n".join(closing_lines(run)))
        if run.number is not None:
            sys.stderr.write(f"kept as race {run.number}: inftop races show {run.number}\n")

    def _draw(self, news: RaceNews) -> None:
        drawn = live_lines(news, shutil.get_terminal_size().columns - 1)
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        sys.stderr.write(up + "".join(f"\x1b[2K{one}\n" for one in drawn))
        sys.stderr.flush()
        self._drawn = len(drawn)

    def _wipe(self) -> None:
        if self._drawn:
            sys.stderr.write(f"\x1b[{self._drawn}A\x1b[J")
            sys.stderr.flush()
            self._drawn = 0


def _say(words: str) -> None:
    print(words, flush=True)  # noqa: T201
