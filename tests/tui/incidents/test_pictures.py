"""Pictures of the page of incidents, compared as text with what was looked at."""

import time

import pytest

from tests.tui.incidents.incidents import JUDGEMENTS, opened
from tests.tui.picture import compare as check
from tests.tui.picture import picture

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Clocks on the screen are local; pictures are not."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def look(page, name, size):
    strips = [list(strip) for strip in page.app.screen._compositor.render_strips()]
    check(f"incidents-{name}-{size[0]}x{size[1]}", picture(strips))


@pytest.mark.parametrize("theme", ["inftop-dark", "inftop-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 35), (220, 60)])
async def test_the_list(tmp_path, size, theme):
    async with opened(tmp_path, size=size, theme=theme) as page:
        look(page, f"list-{theme.removeprefix('inftop-')}", size)


@pytest.mark.parametrize("size", [(80, 24), (220, 60)])
async def test_one(tmp_path, size):
    async with opened(tmp_path, size=size) as page:
        await page.press("down", "enter")
        look(page, "one", size)


async def test_none(tmp_path):
    from probes.feed.messages import AlertStatus

    async with opened(tmp_path, size=(80, 24), incidents=(), live=AlertStatus(judgements=JUDGEMENTS[2:])) as page:
        look(page, "none", (80, 24))


@pytest.mark.parametrize("theme", ["inftop-dark", "inftop-light"])
async def test_what_is_usual_and_incidents_behind_graphs_and_charts(tmp_path, theme):
    """Of an endpoint that is slow and has an objective: its row and detail, the charts, and its own page."""
    size, of = (120, 35), theme.removeprefix("inftop-")
    async with opened(tmp_path, size=size, theme=theme, key="down") as page:
        await page.press("down")
        look(page, f"behind-rows-{of}", size)
        await page.press("v")
        look(page, f"behind-charts-{of}", size)
        await page.press("v", "enter")
        look(page, f"behind-endpoint-{of}", size)
