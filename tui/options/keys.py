"""The options page's keys, and the order in which its footer drops them."""

from typing import Final

from tui.keymap import Key

OPTIONS_KEYS: Final = (
    Key("options.next", "right,enter,space", "→", "change(1)", "Options", "next", "Next value",
        "The next value of the option under the cursor; it is shown at once."),
    Key("options.before", "left", "←", "change(-1)", "Options", "before", "Value before",
        "The value before."),
    Key("options.shipped", "delete,backspace", "Del", "ship", "Options", "as shipped", "As shipped",
        "Make the option under the cursor what it is where nothing says otherwise."),
    Key("options.up", "up,k,shift+tab", "↑ k", "move(-1)", "Options", "", "",
        "Up."),
    Key("options.down", "down,j,tab", "↓ j", "move(1)", "Options", "", "",
        "Down."),
    Key("options.back", "escape,q,O", "Esc", "back", "Options", "done", "Back",
        "Back to where the options were opened."),
)  # fmt: skip

OPTIONS_FOOTER: Final = tuple(key for key in OPTIONS_KEYS if key.label)
