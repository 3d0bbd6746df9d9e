"""Make docs/dashboard.svg and docs/race.svg: the real screens on a live demo, drawn by Textual itself.

python docs/picture.py dashboard [SECONDS]
python docs/picture.py race
"""

import asyncio
import os
import re
import sys
import time
from pathlib import Path

from probes.config import find_config, load, race_prompts
from probes.race.wish import RaceWish
from tui.app import InftopApp
from tui.attached import Attached
from tui.child import ChildEngine
from tui.launch import engine_argv, engine_environment
from tui.lens import Lens
from tui.period import LENGTHS, Period
from tui.screens.race import RaceScreen
from tui.source import Live

SIZE = (150, 48)


LANES = ("cerebras/gpt-oss-120b", "groq/gpt-oss-120b")
HEATS = 5


def demo(*words: str, race: RaceWish | None = None) -> InftopApp:
    """The screen on a demo's engine."""
    return InftopApp(
        Live(lambda: ChildEngine(engine_argv(["run", "--demo", *words]), engine_environment(os.environ)), Attached),
        now=lambda: time.time_ns() // 1_000_000,
        lens=Lens(Period(LENGTHS["1 m"])),
        race=race,
    )


async def dashboard(seconds: float) -> str:
    """The dashboard after so long."""
    app = demo()
    async with app.run_test(size=SIZE):
        await asyncio.sleep(seconds)
        return drawn(app, "inftop demo")


async def race() -> str:
    """A race that is over, and kept."""
    [prompt, *_] = race_prompts(load(find_config(None)))
    app = demo("--races", race=RaceWish(LANES, prompt.text, prompt.name, heats=HEATS))
    async with app.run_test(size=SIZE) as pilot:
        while not (isinstance(app.screen, RaceScreen) and app.screen.shown.news and app.screen.shown.news.number):
            await pilot.pause(0.1)
        await pilot.pause(1.0)
        return drawn(app, "inftop race --demo")


def drawn(app: InftopApp, title: str) -> str:
    """What is on the screen, as SVG."""
    picture = app.export_screenshot(title=title)
    picture = picture.replace("<svg ", '<svg xml:space="preserve" ', 1)  # else some viewers drop leading blanks
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # a picture loads nothing from elsewhere


def main() -> None:
    """Write the picture beside this file."""
    which, *rest = sys.argv[1:]
    made = race() if which == "race" else dashboard(float(rest[0]) if rest else 75.0)
    Path(__file__).with_name(f"{which}.svg").write_text(asyncio.run(made), encoding="utf-8")


if __name__ == "__main__":
    main()
