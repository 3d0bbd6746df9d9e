"""The sample page's keys, and the order in which its footer drops them."""

from dataclasses import replace
from typing import Final

from tui.keys import verbs
from tui.keys.keymap import Key, KeyTable

SAMPLE_KEYS: Final = KeyTable("Sample", (
    Key("before", "comma,left", ",", "step(-1)", "Move", "newer", "Newer sample",
        "The sample above this one in the list."),
    Key("next", "full_stop,right", ".", "step(1)", "Move", "older", "Older sample",
        "The sample below this one in the list."),
    replace(verbs.UP, action="scroll(-1)", help="Scroll up."),
    replace(verbs.DOWN, action="scroll(1)", label="scroll", help="Scroll down."),
    replace(verbs.PAGE_UP, action="scroll(-10)"),
    replace(verbs.PAGE_DOWN, action="scroll(10)", help="Ten rows down."),
    replace(verbs.BACK, keys="escape,q,enter", title="Back to the list", help="Back to the list of samples."),
    verbs.COPY,
    verbs.JUMP,
    verbs.OPTIONS,
    verbs.HELP,
), footer=("help", "back", "before", "next", "down", "copy", "jump"))  # fmt: skip
