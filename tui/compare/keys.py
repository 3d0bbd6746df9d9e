"""The compare page's keys, and the order in which its footer drops them."""

from typing import Final

from tui.keymap import Key

COMPARE_KEYS: Final = (
    Key("compare.add", "a", "a", "add", "Compare", "add", "Add or remove endpoints",
        "A list with a filter: Enter takes an endpoint or gives it back; a model takes all that serve it."),
    Key("compare.remove", "x,delete", "x", "remove", "Compare", "remove", "Remove the marked one",
        "Compare no more what is marked."),
    Key("compare.measure", "m,right", "m", "measure(1)", "Compare", "chart", "Chart the next figure",
        "Chart the next figure: TTFT p50, p95, p99, tokens/s p50, p5, E2E, longest gap p95, errors, hits, cost."),
    Key("compare.measure.back", "M,left", "M", "measure(-1)", "Compare", "", "",
        "Chart the figure before."),
    Key("compare.rank", "s", "s", "rank(1)", "Compare", "rank", "Rank by the next column",
        "Rank by the next column; or click its title."),
    Key("compare.rank.back", "S", "S", "rank(-1)", "Compare", "", "",
        "Rank by the column before."),
    Key("compare.window", "w", "w", "window(1)", "Compare", "window", "Longer window",
        "A longer window, up to a year."),
    Key("compare.window.back", "W", "W", "window(-1)", "Compare", "", "Shorter window",
        "A shorter window."),
    Key("compare.step.back", "left_square_bracket", "[", "step(-1)", "Compare", "earlier", "Half a window earlier",
        "Half a window earlier; what is shown then stands still, until Home."),
    Key("compare.step.forth", "right_square_bracket", "]", "step(1)", "Compare", "later", "Half a window later",
        "Half a window later, up to the present."),
    Key("compare.jump", "slash", "/", "jump", "Compare", "jump", "Jump to a date or a span",
        "Type a date or time (2026-11-14, 2026-11-14 15:00), a span (two with .. between) or a length (36h, 45d)."),
    Key("compare.live", "home", "Home", "live", "Compare", "now", "Back to the present",
        "From the past back to the present."),
    Key("compare.vantage", "v", "v", "vantage", "Compare", "by place", "Compare places, or endpoints",
        "The marked endpoint from every place it is probed from, as if places were endpoints; or back."),
    Key("compare.open", "enter", "Enter", "open", "Compare", "open", "Open the endpoint",
        "The screen of the marked endpoint."),
    Key("compare.race", "r", "r", "race", "Compare", "race", "Race those that lead",
        "Race two to four of those compared, the first of the table."),
    Key("compare.export", "e", "e", "export", "Compare", "export", "Export as CSV",
        "Write the samples of what is compared, in the time that is shown, to a CSV file."),
    Key("compare.up", "up,k", "↑ k", "move(-1)", "Compare", "", "",
        "Mark the row above."),
    Key("compare.down", "down,j", "↓ j", "move(1)", "Compare", "", "",
        "Mark the row below."),
    Key("compare.back", "escape,q", "Esc", "back", "Compare", "close", "Back",
        "Back to where the comparison was opened."),
    Key("compare.help", "question_mark,f1", "?", "app.help", "Compare", "help", "Help: keys and formulas",
        "Every key and every formula."),
)  # fmt: skip

_BY_ID: Final = {key.id: key for key in COMPARE_KEYS}

COMPARE_FOOTER: Final = tuple(
    _BY_ID[f"compare.{name}"]
    for name in (
        "help", "back", "add", "measure", "rank", "window", "jump", "step.back", "step.forth", "live", "remove", "open",
        "vantage", "race", "export",
    )
)  # fmt: skip
