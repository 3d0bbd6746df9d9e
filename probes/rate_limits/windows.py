"""The windows that a limit may be counted over."""

from collections.abc import Mapping
from typing import Final

WINDOWS_S: Final[Mapping[str, int]] = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "month": 31 * 86_400}
"""The windows by their names in texts, each with its length in seconds; of a month the longest there is."""
