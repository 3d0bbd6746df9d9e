"""The options page's keys, and the order in which its footer drops them."""

from dataclasses import replace
from typing import Final

from tui.keys import verbs
from tui.keys.keymap import Key, KeyTable

OPTIONS_KEYS: Final = KeyTable("Options", (
    Key("options.next", "right,enter,space", "→", "change(1)", "Do", "next", "Next value",
        "The next value of the option under the cursor; it is shown at once."),
    Key("options.before", "left", "←", "change(-1)", "Do", "before", "Value before",
        "The value before."),
    Key("remove", "delete,backspace", "Del", "reset", "Do", "as shipped", "As shipped",
        "Make the option under the cursor what it is where nothing says otherwise."),
    replace(verbs.UP, keys="up,k,shift+tab", help="The option above."),
    replace(verbs.DOWN, keys="down,j,tab", help="The option below."),
    replace(verbs.BACK, keys="escape,q,O", label="done", help="Back to where the options were opened."),
    verbs.HELP,
), footer=("back", "options.next", "options.before", "remove", "help"))  # fmt: skip
