"""The windows that a limit may be counted over: by name, or a number of seconds such as ``30s``."""

import re
from collections.abc import Mapping
from typing import Final

WINDOWS_S: Final[Mapping[str, int]] = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 7 * 86_400,
    "month": 31 * 86_400,
}
"""The windows by their names in texts, each with its length in seconds; of a month the longest there is."""

_SHORTEST_MONTH_S: Final = 28 * 86_400

_SECONDS: Final = re.compile(r"(\d{1,9})s", re.ASCII)


def window_s(word: str) -> int | None:
    """Return the length of a window in seconds, by its name or written as seconds (``30s``), or None if it is none."""
    if (seconds := _SECONDS.fullmatch(word)) is not None:
        return int(seconds[1])
    return WINDOWS_S.get(word)


def window_word(seconds: float) -> str | None:
    """Return the word for a window of so many seconds: its name, else ``30s``; None for less than one or over 30 years.

    28 to 31 days are a month.
    """
    if not 1 <= seconds < 1e9:
        return None
    if _SHORTEST_MONTH_S <= seconds <= WINDOWS_S["month"]:
        return "month"
    return next((name for name, length in WINDOWS_S.items() if length == seconds), f"{seconds:.0f}s")
