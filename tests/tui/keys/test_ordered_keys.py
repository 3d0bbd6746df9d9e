"""Keys typed faster than they are acted on: each goes to what the ones before it have opened."""

import asyncio
from typing import ClassVar

import pytest
from textual import events
from textual.screen import Screen
from textual.widgets import Input

from tests.tui import fabric
from tests.tui.screen import quiet, showing
from tui.keys.ordered_keys import OrderedKeysApp

pytestmark = pytest.mark.slow


async def typed(shown, *keys):
    """All of these keys at once, a pasted text among them in a list of its own."""
    for key in keys:
        shown.app.post_message(
            events.Paste(key[0]) if isinstance(key, list) else events.Key(key, " " if key == "space" else None)
        )
    await quiet(shown.pilot)


@pytest.mark.parametrize("text", ["gro", "p ", "cer", "qqq"])
async def test_what_is_typed_right_after_the_slash_is_the_filter(text):
    async with showing() as shown:
        await typed(shown, "slash", *("space" if one == " " else one for one in text))
        assert shown.app.screen is shown.dashboard
        assert shown.dashboard.options.query == text
        assert shown.dashboard.options.groups == "headings"
        assert shown.source.sent == []
        assert shown.app.is_running


async def test_a_pasted_text_after_the_slash_is_the_filter_too():
    async with showing() as shown:
        await typed(shown, "slash", ["gro"], "q")
        assert shown.dashboard.options.query == "groq"


async def test_what_follows_enter_is_for_the_screen_again_and_a_second_slash_opens_the_line_again():
    async with showing() as shown:
        await typed(shown, "slash", *"gro", "enter", "t", "slash", "q")
        assert shown.dashboard.options.query == "groq"
        assert shown.dashboard.period.words == "24 h"


async def test_keys_that_correct_act_where_they_were_typed():
    async with showing() as shown:
        await typed(shown, "slash", *"grx", "backspace", "o", "left", "left", "r")
        assert shown.dashboard.options.query == "grro"


async def test_a_date_typed_at_once_on_the_endpoint_page():
    async with showing() as shown:
        await typed(shown, "enter", "slash", *"36h", "enter", "x")
        assert shown.app.screen.period.words == "36 h"


async def test_the_list_of_the_comparison_and_the_search_of_the_help():
    async with showing() as shown:
        await typed(shown, "c", "a", *"opus")
        assert shown.app.screen.query_one("#query").value == "opus"
        await typed(shown, "escape", "escape", "question_mark", "slash", *"tpot")
        assert shown.app.screen.query_one("#query").value == "tpot"


async def test_a_prompt_of_ones_own_in_the_race():
    async with showing(*fabric.priced(hours=0.25)) as shown:
        await typed(shown, "r", "end", "up", "up", "up", "enter", *"who", "enter")
        assert shown.app.screen._choice.form.typed == "who"


async def test_the_palette_takes_what_is_typed_after_it():
    async with showing() as shown:
        await typed(shown, "ctrl+p", *"theme")
        assert shown.app.screen.query_one("CommandInput").value == "theme"


async def test_the_key_that_ends_waits_for_none_before_it():
    async with showing() as shown:
        release = asyncio.Event()
        shown.dashboard.call_later(release.wait)  # a screen that is stuck
        for key in (*"j" * 40, "ctrl+q"):
            shown.app.post_message(events.Key(key, None))
        async with asyncio.timeout(60):
            while not shown.app._ended:
                await asyncio.sleep(0.01)
        release.set()


async def test_the_end_of_a_line_in_what_a_program_types_is_enter():
    async with showing() as shown:
        await typed(shown, "slash", *"gro", "ctrl+j", "colon", *"mercury", "ctrl+j")
        assert shown.app.screen is shown.dashboard
        assert shown.dashboard.focused is None
        assert shown.dashboard.selected == "inception/mercury"


class Slow(Screen):
    """A screen that comes with one input focused, which hands the focus on to another."""

    AUTO_FOCUS = "#first"

    def compose(self):
        yield Input(id="first")
        yield Input(id="second")

    def on_descendant_focus(self, event):
        if event.widget.id == "first":
            self.call_later(self.call_later, self.query_one("#second").focus)


class Opening(OrderedKeysApp):
    BINDINGS: ClassVar = [("o", "open"), ("b", "bell")]

    def action_open(self):
        self.push_screen(Slow())


async def test_a_key_waits_until_the_focus_rests():
    app = Opening()
    async with app.run_test() as pilot:
        for key in "ooboe":
            app.post_message(events.Key(key, key))
        await quiet(pilot)
        assert app.screen.query_one("#second").value == "oboe"
        assert len(app.screen_stack) == 2
