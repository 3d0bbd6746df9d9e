"""KeyLine: the footer, made from a page's keys that work now; every word of it can be clicked."""

from textual.content import Content

from tui.keys.keymap import Key
from tui.widgets.one_line import LinePart, OneLine


class KeyLine(OneLine):
    """The bottom line: keys and their words, as many as fit."""

    DEFAULT_CSS = """
    KeyLine {
        link-color: $text-muted;
        link-background: transparent;
        link-style: none;
        link-color-hover: $foreground;
        link-background-hover: $primary 25%;
        link-style-hover: none;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._keys: tuple[Key, ...] = ()

    def show(self, keys: tuple[Key, ...]) -> None:
        """Show these keys, the most important first."""
        if keys != self._keys:
            self._keys = keys
            self.parts([LinePart(hint(key), rank) for rank, key in enumerate(keys)])


def hint(key: Key) -> Content:
    """``t window``; a click on it presses the key."""
    shown, pressed = key.shown.replace("[", "\\["), key.keys.split(",")[0]
    return Content.from_markup(f'[@click="app.simulate_key({pressed!r})"][bold $primary]{shown}[/] {key.label}[/]')
