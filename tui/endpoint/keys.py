"""The endpoint page's keys, and the order in which its footer drops them."""

from typing import Final

from tui.keymap import Key

ENDPOINT_KEYS: Final = (
    Key("endpoint.longer", "w", "w", "window(1)", "Endpoint", "window", "Longer window",
        "The next longer window of time, around the same middle."),
    Key("endpoint.shorter", "W", "W", "window(-1)", "Endpoint", "", "Shorter window",
        "The next shorter window of time."),
    Key("endpoint.earlier", "left_square_bracket", "[", "step(-1)", "Endpoint", "earlier", "Half a window earlier",
        "Half a window earlier; what is shown then stands still, until Home."),
    Key("endpoint.later", "right_square_bracket", "]", "step(1)", "Endpoint", "later", "Half a window later",
        "Half a window later, up to the present."),
    Key("endpoint.jump", "slash", "/", "jump", "Endpoint", "jump", "Jump to a date or a span",
        "Type a date (2026-11-14), a date and time, two with .. between them, or a length (36h)."),
    Key("endpoint.live", "home", "Home", "live", "Endpoint", "now", "Back to the present",
        "The same window, ending now and moving with it."),
    Key("endpoint.lane", "l", "l", "lane", "Endpoint", "lane", "Warm or cold",
        "Show the other kind of connection, where there are samples of both; they are never mixed."),
    Key("endpoint.vantage", "v", "v", "vantage", "Endpoint", "place", "Next place",
        "One place after the other, where the store holds several; then all together."),
    Key("endpoint.measure", "m", "m", "measure", "Endpoint", "figure", "The week's next figure",
        "The week by TTFT, by tokens/s, by error rate."),
    Key("endpoint.failures", "x", "x", "failures", "Endpoint", "failed", "Failed samples only",
        "List only samples that failed or hit a rate limit, or all of them."),
    Key("endpoint.open", "enter", "Enter", "open", "Endpoint", "open", "Open the sample",
        "The sample under the cursor: its waterfall, its text and every raw fact."),
    Key("endpoint.page", "tab", "Tab", "turn(1)", "Endpoint", "page", "Next page",
        "The next page; 1 to 6 go to one, 0 shows all of them where the terminal is large enough."),
    Key("endpoint.page.back", "shift+tab", "⇧Tab", "turn(-1)", "Endpoint", "", "Page before",
        "The page before."),
    *(
        Key(f"endpoint.page.{number}", str(number), str(number), f"page({number})", "Endpoint", "", "",
            f"Page {number}: {words}.")
        for number, words in enumerate(
            ("all of it at once, where there is room", "TTFT and tokens/s over time",
             "the distributions", "errors by kind, headroom and the longest gaps", "hour by weekday",
             "against the stretch before, and place against place", "the samples")
        )
    ),
    Key("endpoint.before", "comma", ",", "endpoint(-1)", "Endpoint", "", "Endpoint before",
        "The endpoint above this one on the dashboard."),
    Key("endpoint.next", "full_stop", ".", "endpoint(1)", "Endpoint", "next", "Next endpoint",
        "The endpoint below this one on the dashboard."),
    Key("endpoint.export", "e", "e", "export", "Endpoint", "export", "Export as CSV",
        "Write the samples of this stretch and place to a CSV file; failed ones alone where only they are listed."),
    Key("endpoint.up", "up,k", "↑ k", "move(-1)", "Endpoint", "", "",
        "Up in the list of samples; where it is not shown, the endpoint before."),
    Key("endpoint.down", "down,j", "↓ j", "move(1)", "Endpoint", "", "",
        "Down in the list of samples; where it is not shown, the next endpoint."),
    Key("endpoint.page.up", "pageup", "PgUp", "move(-20)", "Endpoint", "", "",
        "Twenty samples up."),
    Key("endpoint.page.down", "pagedown", "PgDn", "move(20)", "Endpoint", "", "",
        "Twenty samples down."),
    Key("endpoint.back", "escape,q", "Esc", "back", "Endpoint", "back", "Back",
        "Back to where this was opened from."),
    Key("endpoint.help", "question_mark,f1", "?", "app.help", "Endpoint", "help", "Help: keys and formulas",
        "Every key and every formula."),
)  # fmt: skip
_BY_ID: Final = {key.id: key for key in ENDPOINT_KEYS}

ENDPOINT_FOOTER: Final = tuple(
    _BY_ID[f"endpoint.{name}"]
    for name in (
        "help", "back", "longer", "earlier", "later", "page", "jump", "live", "open", "next", "failures", "measure",
        "lane", "vantage", "export",
    )
)  # fmt: skip
"""The order in which the footer drops keys that do not fit: the last goes first."""
