"""Key: one binding of a page, from whose table of them footer, help screen and command palette are made."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from textual.binding import Binding

Section = Literal["Look", "Order", "Do", "Move", "Program", "Race", "Compare", "Endpoint", "Options"]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)


@dataclass(frozen=True, slots=True)
class Key:
    """One binding. ``id`` is stable (for a keymap of one's own), ``keys`` as Textual names them, comma-separated.

    ``shown`` is the key as printed, ``label`` its word in the footer and ``title`` its name in the palette ("" for
    none), ``help`` one sentence.
    """

    id: str
    keys: str
    shown: str
    action: str
    section: Section
    label: str
    title: str
    help: str


def bindings(keys: tuple[Key, ...]) -> list[Binding]:
    """The bindings of a screen, as Textual takes them; none shows in a footer of Textual's own."""
    return [Binding(key.keys, key.action, key.help, show=False, key_display=key.shown, id=key.id) for key in keys]
