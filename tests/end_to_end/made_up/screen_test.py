"""The weather page, made up, opens and closes by its keys."""

from tui.weather.screen import WeatherScreen

from tests.tui.screen import showing


async def test_it_is_opened_from_the_dashboard_and_left():
    async with showing() as shown:
        await shown.press("W")
        assert isinstance(shown.app.screen, WeatherScreen)
        assert "The sky is clear." in shown.text
        await shown.press("escape")
        assert "The sky is clear." not in shown.text
