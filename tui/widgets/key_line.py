"""KeyLine: the footer, made from a page's keys; every word of it can be clicked."""

from textual.content import Content

from tui.keymap import Key
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

    def __init__(self, keys: tuple[Key, ...], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._keys = keys

    def on_mount(self) -> None:
        """Fill it, once."""
        self.parts([LinePart(hint(key), rank) for rank, key in enumerate(self._keys)])


def hint(key: Key) -> Content:
    """``t window``, which does what the key does when clicked."""
    action = key.action if "." in key.action else f"screen.{key.action}"
    shown = key.shown.replace("[", "\\[")
    return Content.from_markup(f'[@click="{action}"][bold $primary]{shown}[/] {key.label}[/]')
