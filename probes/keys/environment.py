"""The environment of a process that is to know no key."""

from collections.abc import Mapping
from typing import Final

KEPT: Final = frozenset({
    "HOME", "USER", "LOGNAME", "PATH", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "PYTHONPATH"
})  # fmt: skip

KINDS: Final = ("LC_", "PG", "XDG_")
"""Variables that are kept too: those that begin so. libpq's ``PG…`` may hold a password, of the store that is read."""


def without_keys(ours: Mapping[str, str]) -> dict[str, str]:
    """Of our variables those that say where things are, the language, and libpq's: a key may have any name."""
    return {name: value for name, value in ours.items() if name in KEPT or name.startswith(KINDS)}
