"""What is painted first: the endpoints of the configuration, where they stay."""

import pytest

from tests.tui import fabric
from tests.tui.fabric import HABITS
from tests.tui.screen import Clock, quiet
from tui.app import InftopApp
from tui.dashboard.screen import DashboardScreen
from tui.state.view_options import DEFAULTS, ScreenOptions, ViewOptions

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_the_first_picture_has_every_endpoint_where_it_stays(monkeypatch, size):
    first, open_detail = [], DashboardScreen._open_detail

    def lines(screen):
        return ["".join(one.text for one in strip) for strip in screen._compositor.render_strips()]

    async def painted(screen):
        first.extend(lines(screen))
        await open_detail(screen)

    monkeypatch.setattr(DashboardScreen, "_open_detail", painted)
    options = ScreenOptions(ViewOptions.of(DEFAULTS), endpoints=[fabric.facts(one) for one in HABITS])
    app = InftopApp(fabric.nothing(), now=Clock(), options=options)
    async with app.run_test(size=size) as pilot:
        await quiet(pilot)
        after = lines(app.screen)
    rows = [number for number, line in enumerate(after) if "▎" in line]
    assert len(rows) >= len(HABITS)
    detail = rows[-1] + 1  # it is opened after the first picture
    assert (first[:detail], first[-1]) == (after[:detail], after[-1])


@pytest.mark.parametrize("view", ["panels", "wall"])
async def test_a_dashboard_that_begins_with_another_view_never_shows_the_fleet(monkeypatch, view):
    drawn, open_detail = [], DashboardScreen._open_detail

    async def painted(screen):
        drawn.append(screen.board)
        await open_detail(screen)

    monkeypatch.setattr(DashboardScreen, "_open_detail", painted)
    options = ScreenOptions(ViewOptions.of({**DEFAULTS, "view": view}), endpoints=[fabric.facts(HABITS[0])])
    app = InftopApp(fabric.nothing(), now=Clock(), options=options)
    async with app.run_test(size=(80, 24)) as pilot:
        await quiet(pilot)
        assert drawn == [None]
        assert app.screen.board is not None
