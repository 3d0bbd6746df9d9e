"""The sample page's keys, and the order in which its footer drops them."""

from typing import Final

from tui.keymap import Key

SAMPLE_KEYS: Final = (
    Key("sample.newer", "comma,left", ",", "step(-1)", "Endpoint", "newer", "Newer sample",
        "In a sample: the one above it in the list."),
    Key("sample.older", "full_stop,right", ".", "step(1)", "Endpoint", "older", "Older sample",
        "In a sample: the one below it in the list."),
    Key("sample.up", "up,k", "↑ k", "scroll(-1)", "Endpoint", "", "",
        "In a sample: up."),
    Key("sample.down", "down,j", "↓ j", "scroll(1)", "Endpoint", "scroll", "",
        "In a sample: down."),
    Key("sample.page.up", "pageup", "PgUp", "scroll(-10)", "Endpoint", "", "",
        "In a sample: ten rows up."),
    Key("sample.page.down", "pagedown", "PgDn", "scroll(10)", "Endpoint", "", "",
        "In a sample: ten rows down."),
    Key("sample.back", "escape,q,enter", "Esc", "back", "Endpoint", "back", "Back to the list",
        "Back to the list of samples."),
    Key("sample.help", "question_mark,f1", "?", "app.help", "Endpoint", "help", "Help: keys and formulas",
        "Every key and every formula."),
)  # fmt: skip

_BY_ID: Final = {key.id: key for key in SAMPLE_KEYS}

SAMPLE_FOOTER: Final = tuple(_BY_ID[f"sample.{name}"] for name in ("help", "back", "newer", "older", "down"))
