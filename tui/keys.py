"""Keys: every binding of the dashboard, once; footer, help screen and command palette are made from these."""

from dataclasses import dataclass
from typing import Final, Literal

from textual.binding import Binding

Section = Literal["Look", "Order", "Do", "Move", "Program"]
SECTIONS: Final[tuple[Section, ...]] = ("Look", "Order", "Do", "Move", "Program")


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


KEYS: Final = (
    Key("window.next", "t", "t", "window(1)", "Look", "window", "Longer window",
        "The next longer window of time."),
    Key("window.back", "T", "T", "window(-1)", "Look", "", "Shorter window",
        "The next shorter window of time."),
    Key("view", "v", "v", "view", "Look", "view", "Fleet or panels",
        "Switch between the fleet and four large panels."),
    Key("scale", "y", "y", "scale", "Look", "scale", "One scale, or one each",
        "One scale for a whole column, or one for each row."),
    Key("freeze", "f", "f", "freeze", "Look", "freeze", "Freeze the picture",
        "Hold the picture still; the engine goes on and nothing is lost."),
    Key("sort", "s", "s", "sort(1)", "Order", "sort", "Sort by the next figure",
        "Sort by the next figure: as configured, name, TTFT, tokens/s, errors, state. In the group view, rank by TTFT, "
        "its p95, tokens/s, characters/s, errors, cost."),
    Key("sort.back", "S", "S", "sort(-1)", "Order", "", "",
        "Sort by the figure before."),
    Key("filter", "slash", "/", "filter", "Order", "filter", "Filter endpoints",
        "Show only endpoints that match; Enter keeps the filter, Escape drops it."),
    Key("filter.clear", "escape", "Esc", "clear", "Order", "", "",
        "Drop the filter."),
    Key("group", "g", "g", "group", "Order", "group", "Groups: headings, side by side, none",
        "Put endpoints of the same model together, then rank them side by side (the group view), then neither."),
    Key("probe", "space", "space", "probe", "Do", "probe now", "Probe now",
        "Probe the selected endpoint now."),
    Key("pause", "p", "p", "pause", "Do", "pause", "Pause or resume the endpoint",
        "Pause or resume the selected endpoint."),
    Key("pause.all", "P", "P", "pause_all", "Do", "", "Pause or resume all",
        "Pause or resume all endpoints."),
    Key("export", "e", "e", "export", "Do", "export", "Export as CSV",
        "Write the window's samples of the endpoints shown to a CSV file."),
    Key("up", "up,k", "↑ k", "move(-1)", "Move", "", "",
        "Select the endpoint above."),
    Key("down", "down,j", "↓ j", "move(1)", "Move", "", "",
        "Select the endpoint below."),
    Key("page.up", "pageup", "PgUp", "move(-10)", "Move", "", "",
        "Ten endpoints up."),
    Key("page.down", "pagedown", "PgDn", "move(10)", "Move", "", "",
        "Ten endpoints down."),
    Key("first", "home", "Home", "move(-1000)", "Move", "", "",
        "Select the first endpoint."),
    Key("last", "end", "End", "move(1000)", "Move", "", "",
        "Select the last endpoint."),
    Key("help", "question_mark,f1", "?", "help", "Program", "help", "Help: keys and formulas",
        "Every key and every formula."),
    Key("palette", "ctrl+p", "^p", "app.command_palette", "Program", "palette", "",
        "Every command, and the themes."),
    Key("quit", "q,ctrl+q", "q", "app.quit", "Program", "quit", "Quit",
        "Leave; an engine of our own finishes its samples first."),
)  # fmt: skip

BY_ID: Final = {key.id: key for key in KEYS}

FOOTER: Final = tuple(
    BY_ID[name]
    for name in (
        "help", "quit", "window.next", "view", "sort", "filter", "probe", "pause", "freeze", "group", "export", "scale",
        "palette",
    )
)  # fmt: skip
"""The order in which the footer drops keys that do not fit: the last goes first."""


def bindings() -> list[Binding]:
    """The bindings of the dashboard, as Textual takes them; none shows in a footer of Textual's own."""
    return [Binding(key.keys, key.action, key.help, show=False, key_display=key.shown, id=key.id) for key in KEYS]
