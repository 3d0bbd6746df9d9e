"""Pictures of the endpoint screen, all at once and page by page, and of one sample, as they were looked at."""

import time

import pytest

from tests.tui.endpoint.summaries import portrayed
from tests.tui.picture import compare, picture
from tests.tui.screen import at_once
from tui.endpoint.keys import PAGES

pytestmark = pytest.mark.slow

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


@pytest.mark.parametrize("theme", ["inftop-dark", "inftop-light"])
async def test_all_at_once(store, theme):
    async with portrayed(store, size=LARGE, theme=theme) as shown:
        compared(shown, f"all-{theme.removeprefix('inftop-')}", LARGE)


async def test_two_lanes_in_the_past(store):
    async with portrayed(store, size=LARGE, length="24 h") as shown:
        await shown.press("full_stop", "left_square_bracket")
        compared(shown, "lanes-past", LARGE)


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
async def test_page_by_page(store, size):
    async with portrayed(store, size=size, length="30 d") as shown:
        for page in range(1, len(PAGES)):
            await shown.press(str(page))
            compared(shown, f"page-{page}", size)


async def test_the_week_with_its_numbers(store):
    async with portrayed(store, size=LARGE) as shown:
        await shown.press("4")
        compared(shown, "week", LARGE)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_one_sample(store, size):
    async with portrayed(store, size=size) as shown:
        await shown.press(*"6", "enter")
        compared(shown, "sample", size)


async def test_one_sample_read_before_the_first_layout(store, monkeypatch):
    monkeypatch.setattr("asyncio.to_thread", at_once)
    async with portrayed(store, size=SMALL) as shown:
        await shown.press(*"6", "enter")
        compared(shown, "sample", SMALL)
