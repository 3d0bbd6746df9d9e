"""Keys: every binding of the dashboard, once; footer, help screen and command palette are made from these."""

from dataclasses import dataclass
from typing import Final, Literal

from textual.binding import Binding

Section = Literal["Look", "Order", "Do", "Move", "Program", "Race", "Compare", "Endpoint"]
SECTIONS: Final[tuple[Section, ...]] = ("Look", "Order", "Do", "Move", "Program", "Race", "Compare", "Endpoint")


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
    Key("step.back", "left_square_bracket", "[", "step(-1)", "Look", "earlier", "Half a window earlier",
        "Half a window earlier; what is shown then stands still, until Home."),
    Key("step.forth", "right_square_bracket", "]", "step(1)", "Look", "later", "Half a window later",
        "Half a window later, up to the present."),
    Key("view", "v", "v", "view", "Look", "view", "Fleet or panels",
        "Switch between the fleet and four large panels."),
    Key("scale", "y", "y", "scale", "Look", "scale", "One scale, or one each",
        "One scale for a whole column, or one for each row."),
    Key("freeze", "f", "f", "freeze", "Look", "freeze", "Freeze the picture",
        "Hold the picture still; the engine goes on and nothing is lost."),
    Key("vantage", "V", "V", "vantage", "Look", "", "Next place",
        "Show what one place measured, then the next, then all together, where recorders of several places share the "
        "store."),
    Key("sort", "s", "s", "sort(1)", "Order", "sort", "Sort by the next figure",
        "Sort by the next figure: as configured, name, TTFT, tokens/s, errors, state. In the group view, rank by TTFT, "
        "its p95, tokens/s, characters/s, errors, cost."),
    Key("sort.back", "S", "S", "sort(-1)", "Order", "", "",
        "Sort by the figure before."),
    Key("filter", "slash", "/", "filter", "Order", "filter", "Filter, or jump to a date",
        "Show only endpoints that match; Enter keeps the filter, Escape drops it. Or jump: to a date or time "
        "(2026-11-14, 2026-11-14 15:00), to a span (two with .. between) or to a length that ends now (36h, 45d)."),
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
    Key("race", "r", "r", "race", "Do", "race", "Race models head to head",
        "Race the selected endpoint against its best rival, or any two to four, on one prompt."),
    Key("endpoint", "enter", "Enter", "endpoint", "Do", "open", "Open the endpoint",
        "The selected endpoint over any stretch of time: charts, distributions, errors, its week, its samples."),
    Key("compare", "c", "c", "compare", "Do", "compare", "Compare endpoints",
        "Compare the selected endpoint with those that serve its model, or any up to six, over any stretch of time."),
    Key("up", "up,k", "↑ k", "move(-1)", "Move", "", "",
        "Select the endpoint above."),
    Key("down", "down,j", "↓ j", "move(1)", "Move", "", "",
        "Select the endpoint below."),
    Key("page.up", "pageup", "PgUp", "move(-10)", "Move", "", "",
        "Ten endpoints up."),
    Key("page.down", "pagedown", "PgDn", "move(10)", "Move", "", "",
        "Ten endpoints down."),
    Key("first", "home", "Home", "home", "Move", "", "Back to the present",
        "From the past back to the present; there, select the first endpoint."),
    Key("last", "end", "End", "move(1000)", "Move", "", "",
        "Select the last endpoint."),
    Key("help", "question_mark,f1", "?", "help", "Program", "help", "Help: keys and formulas",
        "Every key and every formula."),
    Key("palette", "ctrl+p", "^p", "app.command_palette", "Program", "palette", "",
        "Every command, and the themes."),
    Key("quit", "q,ctrl+q", "q", "app.quit", "Program", "quit", "Quit",
        "Leave; an engine of our own finishes its samples first."),
)  # fmt: skip

RACE_KEYS: Final = (
    Key("race.start", "s", "s", "start", "Race", "start/stop", "Start or stop the race",
        "Start the race that is chosen, or stop the one that runs; what was run is kept."),
    Key("race.enter", "enter", "Enter", "enter", "Race", "", "",
        "Start the race that is chosen; type a prompt where that is under the cursor; replay a kept race."),
    Key("race.again", "m", "m", "again", "Race", "rematch", "Rematch",
        "Run the same race once more."),
    Key("race.new", "n", "n", "choose", "Race", "new", "Choose lanes, prompt and heats",
        "Choose the lanes, the prompt, the token cap, the heats and the connections of the next race."),
    Key("race.swap", "w", "w", "swap", "Race", "swap", "Swap the lanes",
        "Move the lanes on by one: of two, the other way round."),
    Key("race.heats", "h", "h", "heats(1)", "Race", "more heats", "More heats",
        "More heats in the next race; in a replay its next heat."),
    Key("race.heats.back", "H", "H", "heats(-1)", "Race", "", "Fewer heats",
        "Fewer heats in the next race; in a replay the heat before."),
    Key("race.replay", "r", "r", "replay", "Race", "replay", "Replay",
        "Watch the race again from its recording, heat by heat, at true speed or any other."),
    Key("race.space", "space", "space", "space", "Race", "", "Hold or go on",
        "Hold the replay, or let it go on; where a race is chosen, take what is under the cursor."),
    Key("race.slower", "minus,comma", "-", "pace('slower')", "Race", "slower", "Slow motion",
        "Replay slower, down to a tenth of the true speed."),
    Key("race.faster", "plus,equals_sign,full_stop", "+", "pace('faster')", "Race", "faster", "Faster replay",
        "Replay faster, up to ten times the true speed."),
    Key("race.left", "left", "←", "sideways(-1)", "Race", "", "",
        "Go back in the replay; where a race is chosen, the smaller value."),
    Key("race.right", "right", "→", "sideways(1)", "Race", "", "",
        "Go forward in the replay; where a race is chosen, the larger value."),
    Key("race.save", "e", "e", "save", "Race", "save", "Save picture and answers",
        "Write the screen to an SVG picture, and the answers to a text file beside it."),
    Key("race.copy", "c", "c", "copy", "Race", "copy", "Copy the answer",
        "Copy the answer of the lane that is marked."),
    Key("race.kept", "o", "o", "kept", "Race", "kept races", "Kept races",
        "List the races that are kept; Enter replays one."),
    Key("race.next", "tab", "Tab", "lane(1)", "Race", "", "",
        "Mark the next lane: its answer is scrolled and copied. Where a race is chosen, go to its other half."),
    Key("race.up", "up,k", "↑ k", "move(-1)", "Race", "", "",
        "Up, in what is chosen or read."),
    Key("race.down", "down,j", "↓ j", "move(1)", "Race", "", "",
        "Down, in what is chosen or read."),
    Key("race.page.up", "pageup", "PgUp", "move(-10)", "Race", "", "",
        "Ten rows up."),
    Key("race.page.down", "pagedown", "PgDn", "move(10)", "Race", "", "",
        "Ten rows down."),
    Key("race.first", "home", "Home", "move(-1000000)", "Race", "", "",
        "The first row."),
    Key("race.last", "end", "End", "move(1000000)", "Race", "", "",
        "The last row."),
    Key("race.back", "escape,q", "Esc", "back", "Race", "back", "Back",
        "Leave the list or the choice, then the race view; a race that runs goes on."),
    Key("race.help", "question_mark,f1", "?", "help", "Race", "help", "Help: keys and formulas",
        "Every key and every formula."),
)  # fmt: skip
"""The bindings of the race view."""

BY_ID: Final = {key.id: key for key in (*KEYS, *RACE_KEYS)}

FOOTER: Final = tuple(
    BY_ID[name]
    for name in (
        "help", "quit", "window.next", "view", "sort", "filter", "endpoint", "race",
        "compare", "step.back", "step.forth", "probe", "pause", "freeze", "group", "export", "scale", "palette",
    )
)  # fmt: skip
"""The order in which the footer drops keys that do not fit: the last goes first."""

RACE_FOOTER: Final = tuple(
    BY_ID[f"race.{name}"]
    for name in (
        "help", "back", "start", "again", "new", "replay", "swap", "heats", "kept", "save", "copy", "slower", "faster",
    )
)  # fmt: skip


def bindings(keys: tuple[Key, ...] = KEYS) -> list[Binding]:
    """The bindings of a screen, as Textual takes them; none shows in a footer of Textual's own."""
    return [Binding(key.keys, key.action, key.help, show=False, key_display=key.shown, id=key.id) for key in keys]
