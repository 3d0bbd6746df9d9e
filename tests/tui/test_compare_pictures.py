"""Pictures of the compare screen, compared as text with what was looked at."""

import time

import pytest

from tests.tui.comparing import GROQ, SPARK, comparing
from tests.tui.picture import compare as check
from tests.tui.picture import picture


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Clocks on the screen are local; pictures are not."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def look(compare, name, size):
    await compare.shown.pilot.resize_terminal(*size)
    await compare.settle()
    strips = [list(strip) for strip in compare.app.screen._compositor.render_strips()]
    check(f"compare-{name}-{size[0]}x{size[1]}", picture(strips))


async def test_a_model(url):
    async with comparing(url) as compare:
        for theme in ("dark", "light"):
            compare.app.theme = f"inftop-{theme}"
            for size in ((80, 24), (160, 45)):
                await look(compare, f"model-{theme}", size)


async def test_six_by_speed(url):
    async with comparing(url, select=SPARK) as compare:
        await compare.press("m", "m", "m", "s", "s", "s")
        for size in ((100, 30), (200, 50)):
            await look(compare, "six", size)


async def test_the_past_by_place(url):
    async with comparing(url, window="1 h", select=GROQ) as compare:
        await compare.press("down", "v", "left_square_bracket", "left_square_bracket")
        await look(compare, "places-past", (80, 24))


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_the_list(url, size):
    async with comparing(url, size=size) as compare:
        await compare.press("a", "down", "down", "down", "enter", *"o")
        await look(compare, "list", size)
