"""Pictures of the endpoint screen, all at once and page by page, and of one sample, as they were looked at."""

import time

import pytest

from tests.tui.picture import compare, picture
from tests.tui.portrayed import portrayed

SMALL, MIDDLE, LARGE = (80, 24), (100, 30), (160, 45)


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Clocks on the screen are local; pictures are not."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def compared(shown, name, size):
    strips = [list(strip) for strip in shown.app.screen._compositor.render_strips()]
    compare(f"endpoint-{name}-{size[0]}x{size[1]}", picture(strips))


async def test_all_at_once(store):
    async with portrayed(store, size=LARGE) as shown:
        for theme in ("dark", "light"):
            shown.app.theme = f"inftop-{theme}"
            await shown.settle()
            compared(shown, f"all-{theme}", LARGE)


async def test_two_lanes_in_the_past(store):
    async with portrayed(store, size=LARGE, length="24 h") as shown:
        await shown.press("full_stop", "left_square_bracket")
        compared(shown, "lanes-past", LARGE)


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
async def test_page_by_page(store, size):
    async with portrayed(store, size=size, length="30 d") as shown:
        for page in "123456":
            await shown.press(page)
            compared(shown, f"page-{page}", size)


async def test_the_week_with_its_numbers(store):
    async with portrayed(store, size=LARGE) as shown:
        await shown.press("4")
        compared(shown, "week", LARGE)


async def test_one_sample(store):
    async with portrayed(store, size=SMALL) as shown:
        await shown.press(*"6", "enter")
        for size in (SMALL, LARGE):
            await shown.shown.pilot.resize_terminal(*size)
            await shown.settle()
            compared(shown, "sample", size)
