"""Pictures of the race view: chosen, run, judged and replayed, compared as text with what was looked at."""

from tests.tui import fabric, racing
from tests.tui.picture import compare, picture
from tests.tui.racing import CEREBRAS, CUT, GROQ, OPUS
from tests.tui.test_race import opened

SIZES = [(80, 24), (160, 45)]


async def compared(race, name):
    """Compare what is on the screen in each size, once nothing on it moves any more: lanes are laid out in turns."""
    for size in SIZES:
        await race.shown.pilot.resize_terminal(*size)
        drawn = before = None
        while drawn is None or drawn != before:
            before = drawn
            await race.settle()
            drawn = picture([list(strip) for strip in race.app.screen._compositor.render_strips()])
        compare(f"race-{name}-{size[0]}x{size[1]}", drawn)


async def test_before():
    async with opened(fabric.priced(hours=0.25)) as race:
        await compared(race, "before")


async def test_during():
    async with opened(fabric.priced(hours=0.25)) as race:
        await race.press("s")
        await race.hear(racing.race(CEREBRAS, GROQ), 330)
        for theme in ("dark", "light"):
            race.app.theme = f"inftop-{theme}"
            await compared(race, f"during-{theme}")


async def test_during_with_four_lanes():
    async with opened(fabric.priced(hours=0.25)) as race:
        await race.press("s")
        await race.hear(racing.race(CEREBRAS, GROQ, OPUS, CUT), 700)
        await compared(race, "during-four")


async def test_after():
    run = racing.race(CEREBRAS, GROQ, heats=5)
    async with opened(fabric.priced(hours=0.25)) as race:
        await race.press("s")
        for heat in range(1, 6):
            await race.hear(run, heat=heat)
        await compared(race, "after")


async def test_after_with_four_lanes():
    run = racing.race(CEREBRAS, GROQ, OPUS, CUT, heats=3)
    async with opened(fabric.priced(hours=0.25)) as race:
        await race.press("s")
        for heat in range(1, 4):
            await race.hear(run, heat=heat)
        await compared(race, "after-four")


async def test_replay():
    async with opened(fabric.priced(hours=0.25), racing.race(CEREBRAS, GROQ, heats=5)) as race:
        await race.press("o")
        await race.press("enter")
        await race.press("minus")
        await race.wait(500)
        await compared(race, "replay")
