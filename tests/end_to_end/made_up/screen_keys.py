"""The weather page's keys, made up."""

from dataclasses import replace
from typing import Final

from tui.keys import verbs
from tui.keys.keymap import KeyTable

WEATHER_KEYS: Final = KeyTable("Weather", (
    replace(verbs.BACK, help="Back to where it was asked for."),
    verbs.HELP,
), footer=("back", "help"))  # fmt: skip
