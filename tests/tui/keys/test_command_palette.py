"""The command palette where there is no room for it."""

from tests.tui.screen import showing


async def test_a_page_down_in_a_list_without_lines_does_nothing():
    async with showing() as shown:
        await shown.press("ctrl+p")
        await shown.pilot.resize_terminal(10, 3)
        await shown.press("pagedown", "pageup", "pagedown")
        assert shown.app.is_running
        await shown.pilot.resize_terminal(120, 35)
        await shown.press("escape")
        assert shown.app.screen is shown.dashboard
