"""The help screen: every key and every definition, found by searching, on the smallest screen."""

import pytest
from textual.app import App

from probes.definitions import sections
from tui.help import KEY_TABLES, HelpScreen, Page, help_sections, rows


def entries(query=""):
    return [entry for section in help_sections(query) for entry in section.entries]


def test_it_holds_every_key_and_every_definition():
    names = [entry.name for entry in entries()]
    assert set(names) >= {key.shown for table in KEY_TABLES for key in table}
    assert set(names) >= {one.word for section in sections() for one in section.definitions}
    assert {key.help for table in KEY_TABLES for key in table} <= {entry.text for entry in entries()}


def test_it_opens_at_the_keys_of_this_screen_and_has_those_of_the_others():
    for table in KEY_TABLES:
        first, *others = help_sections(page=table.page)
        assert first.title.startswith("Keys here: ")
        here = [section for section in (first, *others) if section.title.startswith("Keys here: ")]
        assert {key.help for key in table} == {entry.text for section in here for entry in section.entries}
        rest = [one.title for one in others if one.title.startswith("Keys: ")]
        assert rest == [f"Keys: {one.page.lower()}" for one in KEY_TABLES if one is not table]


def test_a_search_keeps_what_has_all_its_words_names_first():
    found = entries("TTFT")
    assert found[0].name == "TTFT"
    assert len(found) < len(entries())
    assert all("ttft" in " ".join(entry).lower() for entry in found)
    assert [entry.name for entry in entries("ttfa_ms")] == ["TTFA"]
    assert entries("withheld summary")[0].name == "withheld"
    assert entries("no such word anywhere") == []


@pytest.mark.parametrize("width", [40, 74, 110])
def test_rows_fit_their_width_and_lose_nothing(width):
    shown = rows(help_sections(), width)
    assert all(sum(len(text) for text, _ in row) <= width for row in shown)
    letters = "".join(text for row in shown for text, part in row if part == "text").split()
    assert "".join(letters) == "".join("".join(entry.text.split()) for entry in entries())  # a long word may be folded


class Showing(App):
    def on_mount(self):
        self.push_screen(HelpScreen())


@pytest.mark.slow
async def test_it_scrolls_searches_and_leaves():
    app = Showing()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        screen = app.screen
        page = screen.query_one(Page)
        whole = page.virtual_size.height
        assert page.max_scroll_x == 0
        await pilot.press("down", "j")
        assert page.scroll_y == 2
        await pilot.press("end")
        assert page.scroll_y == page.max_scroll_y == whole - page.size.height
        await pilot.press("slash", *"tpot")
        assert page.scroll_y == 0
        assert page.virtual_size.height < whole
        await pilot.press("escape")
        assert app.screen is screen
        assert page.virtual_size.height == whole
        await pilot.press("escape")
        assert app.screen is not screen


async def test_a_large_screen_keeps_lines_short_enough_to_read():
    app = Showing()
    async with app.run_test(size=(250, 70)) as pilot:
        await pilot.pause()
        assert app.screen.query_one(Page).size.width < 120


async def test_a_search_without_a_hit_says_so_and_the_key_that_opened_it_closes_it():
    app = Showing()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"xyz", "enter")
        await pilot.pause()
        assert app.screen.query_one(Page).render_line(0).text.strip() == "Nothing of that is defined."
        await pilot.press("question_mark")
        assert not isinstance(app.screen, HelpScreen)
