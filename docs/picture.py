"""Make docs/dashboard.svg, wall.svg, race.svg and year.svg: the real screens, drawn by Textual itself.

The dashboard and the wall are of a made-up hour (`tests.bench.hour`), the race is one of the demo, and the year is made
up too (`tests.bench.year`).

PYTHONPATH=. python docs/picture.py dashboard
PYTHONPATH=. python docs/picture.py wall
PYTHONPATH=. python docs/picture.py race
PYTHONPATH=. python docs/picture.py year
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from probes.config.file import find_config
from probes.config.load import load, race_prompts
from probes.race.request import RaceRequest
from tests.bench.hour import NOW, hour
from tests.bench.year import fill_year
from tui.app import InftopApp
from tui.dashboard.screen import DashboardScreen
from tui.race.screen import RaceScreen
from tui.sources.attached import FollowingSource
from tui.sources.child import ChildEngine
from tui.sources.own_process import engine_argv, engine_environment
from tui.sources.source import LiveSource, ScriptedSource
from tui.sources.viewer import ReadOnlySource
from tui.state.view_options import ScreenOptions, ViewOptions
from tui.time.period import LENGTHS, Period

SIZE = (150, 48)


LANES = tuple(f"{provider}/gpt-oss-120b" for provider in ("cerebras", "groq", "fireworks", "vllm"))
HEATS = 5


def demo(*words: str, race: RaceRequest | None = None) -> InftopApp:
    """The screen on a demo's engine."""
    return InftopApp(
        LiveSource(
            lambda: ChildEngine(engine_argv(["run", "--demo", *words]), engine_environment(os.environ)), FollowingSource
        ),
        now=lambda: time.time_ns() // 1_000_000,
        options=ScreenOptions(ViewOptions(Period(LENGTHS["1 m"])), race=race),
    )


async def dashboard(*keys: str, size: tuple[int, int] = (126, 40)) -> str:
    """The dashboard after an hour in which something happens, and after these keys."""
    options = ScreenOptions(ViewOptions(Period(LENGTHS["1 h"])))
    app = InftopApp(ScriptedSource(hour()), now=lambda: NOW, options=options)
    async with app.run_test(size=size) as pilot:
        await pilot.pause(2.0)
        await pilot.press("down", "down", *keys)
        await pilot.pause(2.0)
        return drawn(app, "inftop · a made-up hour")


async def wall() -> str:
    """The same hour on a wall."""
    return await dashboard("F", size=(150, 26))


async def race() -> str:
    """A race that is over, and kept."""
    [prompt, *_] = race_prompts(load(find_config(None)))
    app = demo("--races", race=RaceRequest(LANES, prompt.text, prompt.name, heats=HEATS))
    async with app.run_test(size=SIZE) as pilot:
        while not (isinstance(app.screen, RaceScreen) and app.screen.model.news and app.screen.model.news.number):
            await pilot.pause(0.1)
        await pilot.pause(1.0)
        return drawn(app, "inftop race --demo")


async def year() -> str:
    """A year of one endpoint."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "year.db"
        fill_year(store, 12, 400_000)
        app = InftopApp(
            ReadOnlySource(f"sqlite:///{store}", ()),
            now=lambda: time.time_ns() // 1_000_000,
            options=ScreenOptions(ViewOptions(Period(LENGTHS["1 y"])), store_url=f"sqlite:///{store}"),
        )
        async with app.run_test(size=SIZE) as pilot:
            while not (isinstance(app.screen, DashboardScreen) and app.screen.board and app.screen.board.endpoints):
                await pilot.pause(0.1)
            await pilot.press("down", "enter")
            await pilot.pause(5.0)
            return drawn(app, "inftop --attach year.db · a simulated year")


def drawn(app: InftopApp, title: str) -> str:
    """What is on the screen, as SVG."""
    picture = app.export_screenshot(title=title)
    picture = picture.replace("<svg ", '<svg xml:space="preserve" ', 1)  # else some viewers drop leading blanks
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # a picture loads nothing from elsewhere


PICTURES = {"dashboard": dashboard, "wall": wall, "race": race, "year": year}


def main() -> None:
    """Write the picture beside this file."""
    [which] = sys.argv[1:]
    os.environ["TZ"] = "UTC"
    time.tzset()
    Path(__file__).with_name(f"{which}.svg").write_text(asyncio.run(PICTURES[which]()), encoding="utf-8")


if __name__ == "__main__":
    main()
