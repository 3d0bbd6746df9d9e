"""The line for keys: what is typed or pasted into it is taken, and never drawn, in parts or by its length neither."""

import pytest
from textual.app import App

from probes.keys.secret import InvalidKey
from tui.widgets.hidden_line import HiddenLine, key_of

KEY = "gsk_a1B2c3D4e5F6g7H8"


class Asking(App):
    def __init__(self):
        super().__init__()
        self.taken, self.left = [], 0

    def compose(self):
        yield HiddenLine("GROQ_API_KEY")

    def on_mount(self):
        self.query_one(HiddenLine).focus()

    def on_hidden_line_taken(self, event):
        self.taken.append(event.secret.reveal())

    def on_hidden_line_left(self):
        self.left += 1


def drawn(app):
    return "\n".join("".join(one.text for one in strip) for strip in app.screen._compositor.render_strips())


async def test_what_is_typed_is_taken_and_not_drawn():
    app = Asking()
    async with app.run_test() as pilot:
        line = app.query_one(HiddenLine)
        await pilot.press("a")
        short = drawn(app)
        line._add(f"{KEY}\n")
        await pilot.pause()
        assert drawn(app) == short
        assert "typed, and not shown" in short
        await pilot.press("enter")
        assert app.taken == [f"a{KEY}"]
        assert line._typed == ""
        assert KEY not in drawn(app)


async def test_what_cannot_be_a_key_is_not_taken_and_escape_drops_it():
    app = Asking()
    async with app.run_test() as pilot:
        line = app.query_one(HiddenLine)
        line._add("two\nlines")
        await pilot.press("enter")
        assert app.taken == []
        await pilot.press("x", "y", "backspace", "backspace", "enter", "a", "escape")
        assert app.taken == []
        assert line._typed == ""
        assert app.left == 1


async def test_a_person_who_copies_the_key_in_another_window_finds_the_line_as_it_was():
    app = Asking()
    async with app.run_test() as pilot:
        await pilot.press("a")
        app.app_focus = False
        await pilot.pause()
        app.app_focus = True
        await pilot.pause()
        assert app.left == 0
        await pilot.press("b", "enter")
    assert app.taken == ["ab"]


async def test_while_a_key_is_under_way_nothing_is_typed_or_taken():
    app = Asking()
    async with app.run_test() as pilot:
        line = app.query_one(HiddenLine)
        line.wait("is being tested")
        await pilot.press("a", "enter")
        assert "is being tested" in drawn(app)
        line.wait("")
        await pilot.press("b", "enter")
    assert app.taken == ["b"]


@pytest.mark.parametrize("typed", ["", " ", "a b", "line\nbreak", "ключ", "x" * 9000])
def test_a_text_that_is_no_key_is_named_without_quoting_it(typed):
    with pytest.raises(InvalidKey) as error:
        key_of(typed)
    assert len(str(error.value)) < 90


def test_white_space_around_a_pasted_key_is_not_part_of_it():
    assert key_of(f" {KEY}\n").reveal() == KEY
