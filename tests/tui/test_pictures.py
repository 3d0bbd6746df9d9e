"""Pictures of the main screen: two sizes, two themes, compared as text with what was looked at."""

import time

import pytest

from tests.tui import fabric
from tests.tui.picture import compare, picture
from tests.tui.screen import showing

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Clocks on the screen are local; pictures are not."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("theme", ["inftop-dark", "inftop-light"])
@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_the_fleet(size, theme):
    async with showing(fabric.hello(), fabric.frame(fabric.day(hours=7)), size=size, theme=theme) as shown:
        await shown.settle()
        strips = [list(strip) for strip in shown.app.screen._compositor.render_strips()]
    compare(f"fleet-{size[0]}x{size[1]}-{theme.removeprefix('inftop-')}", picture(strips))


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_the_groups(size):
    async with showing(*fabric.priced(), size=size) as shown:
        await shown.press("g")
        strips = [list(strip) for strip in shown.app.screen._compositor.render_strips()]
    compare(f"groups-{size[0]}x{size[1]}", picture(strips))
