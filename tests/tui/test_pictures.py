"""Pictures of the main screen: two sizes, two themes, compared as text with what was looked at."""

import time

import pytest

from tests.tui import fabric
from tests.tui.picture import compare, picture
from tests.tui.screen import showing


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Clocks on the screen are local; pictures are not."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


SIZES = [(80, 24), (160, 45)]


async def compared(shown, name):
    """Compare what is on the screen in each size."""
    for size in SIZES:
        await shown.pilot.resize_terminal(*size)
        await shown.settle()
        strips = [list(strip) for strip in shown.app.screen._compositor.render_strips()]
        compare(name.format(f"{size[0]}x{size[1]}"), picture(strips))


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_the_fleet(theme):
    async with showing(theme=f"inftop-{theme}") as shown:
        await compared(shown, f"fleet-{{}}-{theme}")


async def test_the_groups():
    async with showing(*fabric.priced()) as shown:
        await shown.press("g")
        await compared(shown, "groups-{}")
