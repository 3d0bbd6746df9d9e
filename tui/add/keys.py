"""The keys of the four steps of adding endpoints."""

from dataclasses import replace
from typing import Final

from tui.keys import verbs
from tui.keys.keymap import Key, KeyTable

_UP: Final = replace(verbs.UP, keys="up,shift+tab", shown="↑", help="The row above.")
_DOWN: Final = replace(verbs.DOWN, keys="down,tab", shown="↓", label="choose", help="The row below.")
_DROP: Final = Key("list.all", "escape", "Esc", "drop", "Do", "all", "", "Drop what was typed.")
_BACK: Final = replace(verbs.BACK, keys="escape", help="Back to the step before.")

API_KEYS_OF_LIST: Final = ("list.all", "back", "list.take", "down")

API_STEP_KEYS: Final = KeyTable("Add: provider", (
    Key("list.take", "enter", "Enter", "take", "Do", "its models", "",
        "Ask for the models of the provider under the cursor, or of the address that was typed; where its key is "
        "missing, for that first."),
    _UP, _DOWN, verbs.PAGE_UP, verbs.PAGE_DOWN, _DROP, _BACK,
), footer=API_KEYS_OF_LIST)  # fmt: skip

KEY_STEP_KEYS: Final = KeyTable("Add: key", (
    Key("add.this_run", "enter", "Enter", "this_run", "Do", "use it for this run", "",
        "Without a keyring: use the key until inftop ends. It is kept nowhere."),
    Key("add.again", "space", "space", "type_again", "Do", "type it again", "",
        "Type the key again."),
    _BACK,
), footer=("back", "add.this_run", "add.again"))  # fmt: skip

MODEL_STEP_KEYS: Final = KeyTable("Add: models", (
    Key("list.take", "enter", "Enter", "take", "Do", "try it", "",
        "Try the first of the ticked models by one probe; where none is ticked, the one under the cursor."),
    Key("add.tick", "space", "space", "tick", "Do", "tick", "",
        "Tick the model under the cursor, to add several at once; or take the tick away."),
    Key("ask.again", "ctrl+r", "^r", "ask_again", "Do", "ask again", "",
        "Ask for the list once more."),
    _UP, _DOWN, verbs.PAGE_UP, verbs.PAGE_DOWN, _DROP, _BACK,
), footer=("list.all", "back", "list.take", "add.tick", "down", "ask.again"))  # fmt: skip

TRIAL_STEP_KEYS: Final = KeyTable("Add: trial", (
    Key("add.write", "enter", "Enter", "write", "Do", "watch it", "",
        "Write the endpoints into the configuration: they are watched from then on."),
    Key("add.retry", "space", "space", "try_again", "Do", "try again", "",
        "Probe the first of them once more."),
    _BACK,
), footer=("back", "add.write", "add.retry"))  # fmt: skip

ADD_KEY_TABLES: Final = (API_STEP_KEYS, KEY_STEP_KEYS, MODEL_STEP_KEYS, TRIAL_STEP_KEYS)
