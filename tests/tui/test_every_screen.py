"""Every screen at every size, in both themes, with few endpoints and many: nothing cut, nothing faint, no hole."""

import pytest

from tests.tui import fabric
from tests.tui.compare.comparing import comparing
from tests.tui.endpoint.summaries import portrayed
from tests.tui.looks import wrongs
from tests.tui.race import races
from tests.tui.race.races import CEREBRAS, CUT, GROQ, OPUS
from tests.tui.race.test_screen import opened
from tests.tui.screen import showing

pytestmark = pytest.mark.slow

SIZES = ((80, 24), (100, 30), (120, 35), (160, 45), (220, 60))
LOOKS = (*((size, "inftop-dark") for size in SIZES), ((120, 35), "inftop-light"), ((80, 24), "inftop-light"))

STATES = {
    "fleet": ("", ""),
    "folded": ("d", "d"),
    "answer": ("D", "D"),
    "panels": ("v", "v"),
    "groups": ("g", "g g"),
    "wall": ("F", "F"),
    "filter": ("slash", "escape"),
    "options": ("O", "escape"),
    "help": ("question_mark", "escape"),
    "race": ("r", "escape"),
}
"""The states of the dashboard, each with the keys that lead to it and back."""


async def looked_at(shown, name, **how):
    """What is wrong with what is shown, at every size and in both themes."""
    found = []
    for size, theme in LOOKS:
        shown.app.theme = theme
        await getattr(shown, "shown", shown).pilot.resize_terminal(*size)
        await shown.settle()
        found += [f"{name} at {size[0]}x{size[1]} {theme}: {one}" for one in wrongs(shown.app, **how)]
    return found


@pytest.mark.parametrize("count", [1, 5, 22, 100])
async def test_the_dashboard(count):
    found = []
    async with showing(*fabric.watched(count)) as shown:
        for name, (to, back) in STATES.items():
            await shown.press(*to.split())
            over = name in ("options", "help")
            found += await looked_at(
                shown, name, allows_blank=over or name == "wall", has_footer=not over and name != "wall"
            )
            await shown.press(*back.split())
            if shown.app.screen is not shown.dashboard:
                await shown.press("escape")
    assert not found, "\n".join(found)


async def test_the_endpoint_page(store):
    found = []
    async with portrayed(store, size=(120, 35), length="30 d") as shown:
        for page in "0123456":
            await shown.press(page)
            found += await looked_at(shown, f"page {page}")
        await shown.press("enter")
        found += await looked_at(shown, "sample")
    assert not found, "\n".join(found)


async def test_the_compare_page(url):
    async with comparing(url, size=(120, 35)) as shown:
        found = await looked_at(shown, "compare")
    assert not found, "\n".join(found)


async def test_a_race():
    found = []
    async with opened(fabric.priced(hours=0.25), size=(120, 35)) as race:
        await race.press("enter")
        await race.deliver(races.race(CEREBRAS, GROQ, OPUS, CUT), 700)
        found += await looked_at(race, "race under way")
        await race.deliver(races.race(CEREBRAS, GROQ, OPUS, CUT, heats=1))
        found += await looked_at(race, "race that is over")
    assert not found, "\n".join(found)
