"""inftop's own themes: readable, and not in need of telling red from green."""

import pytest
from textual.app import App
from textual.color import Color

from tests.tui.looks import contrast
from tui.style.palette import SLOTS, endpoint_color
from tui.style.themes import DARK, LIGHT, THEMES
from tui.widgets.charts.plot import band_color, faded

ROLES = ("primary", "secondary", "accent", "success", "warning", "error", "foreground")
TEXTS = ("text-muted", "text-disabled", "footer-key-foreground")


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_in_every_colour_is_readable_on_every_ground(theme):
    for ground in (theme.background, theme.surface, theme.panel):
        for text in (*(getattr(theme, role) for role in ROLES), *(theme.variables[name] for name in TEXTS)):
            assert contrast(text, ground) >= 4.5, (text, ground, contrast(text, ground))
    cursor = contrast(theme.variables["block-cursor-foreground"], theme.variables["block-cursor-background"])
    assert cursor >= 7


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_good_and_bad_differ_in_more_than_red_against_green(theme):
    good, bad = Color.parse(theme.success), Color.parse(theme.error)
    # what separates them without red or green cones is the blue part
    assert good.b - bad.b > 60


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_lines_of_every_endpoint_stand_out_from_the_ground(theme):
    textuals = "#121212" if theme.dark else "#e0e0e0"  # the grounds of textual-dark and textual-light
    for slot in range(SLOTS):
        color = endpoint_color(slot, dark=theme.dark)
        for ground in (theme.background, theme.surface, textuals):
            assert contrast(color, ground) >= 3, (slot, ground)
            assert contrast(faded(color, ground, ground), ground) >= 3, (slot, ground)  # a line that is not selected
        band = band_color(theme.background)
        assert contrast(color, band) >= 3, slot
        assert contrast(faded(color, theme.background, band), band) >= 3, slot


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_letters_in_the_colour_of_every_endpoint_are_readable(theme):
    for slot in range(SLOTS):
        assert contrast(endpoint_color(slot, dark=theme.dark), theme.background) >= 4.5, slot


@pytest.mark.parametrize("dark", [True, False])
def test_no_two_of_twenty_four_endpoints_have_one_colour(dark):
    assert len({endpoint_color(slot, dark=dark) for slot in range(24)}) == 24


async def test_textual_takes_both_beside_its_own():
    app = App()
    async with app.run_test() as pilot:
        for theme in (DARK, LIGHT):
            app.register_theme(theme)
            app.theme = theme.name
            await pilot.pause()
            assert app.current_theme is theme
            assert app.current_theme.dark is (theme is DARK)
        assert "textual-dark" in app.available_themes
