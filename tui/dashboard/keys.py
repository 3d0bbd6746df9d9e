"""The dashboard's keys, and the order in which its footer drops them."""

from typing import Final

from tui.keymap import Key

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
    Key("options", "O", "O", "app.options", "Program", "options", "Options",
        "Theme, window, order, view and the like: what each is, where it is kept, what the configuration fixes."),
    Key("help", "question_mark,f1", "?", "app.help", "Program", "help", "Help: keys and formulas",
        "Every key and every formula."),
    Key("palette", "ctrl+p", "^p", "app.command_palette", "Program", "palette", "",
        "Every command, and the themes."),
    Key("quit", "q,ctrl+q", "q", "app.quit", "Program", "quit", "Quit",
        "Leave; an engine of our own finishes its samples first."),
)  # fmt: skip

_BY_ID: Final = {key.id: key for key in KEYS}

FOOTER: Final = tuple(
    _BY_ID[name]
    for name in (
        "help", "quit", "window.next", "view", "sort", "filter", "endpoint", "race",
        "compare", "step.back", "step.forth", "probe", "pause", "freeze", "group", "export", "scale", "options",
        "palette",
    )
)  # fmt: skip
"""The order in which the footer drops keys that do not fit: the last goes first."""
