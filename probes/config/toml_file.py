"""The TOML of a file, and where it is none the error that names file and line."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from probes.config.file import read_small_file, why_unreadable
from probes.config_error import ConfigError, Problem
from probes.text import line

NESTING_LIMIT: Final = 100
"""Tables and lists in each other. What tomllib can read of deeper ones (they may be written as one dotted key, which
needs no recursion) would end whatever walks through them later."""


class Parsed(NamedTuple):
    """The TOML of a file, its text, and the status of the very file that was read."""

    values: dict[str, Any]
    text: str
    status: os.stat_result


def parse(path: Path, why_this_file: str = "") -> Parsed:
    """The TOML of a file. Raises ConfigError where it cannot be read, which says ``why_this_file``, or is not TOML."""
    try:
        read = read_small_file(path)
    except ValueError as error:
        what = str(error)
    except OSError as error:
        what = why_unreadable(path, error)
    else:
        return Parsed(parse_text(read.text, path), read.text, read.status)
    problems = (Problem(str(path), "", what), *([Problem("", "", why_this_file)] if why_this_file else []))
    raise ConfigError(problems)


def parse_text(text: str, path: Path) -> dict[str, Any]:
    """The TOML of a text that a file holds, or is to hold. Raises ConfigError where it is not TOML."""
    try:
        values = tomllib.loads(text)
        if not _is_nested(values, NESTING_LIMIT):
            return values
        what = f"nested more than {NESTING_LIMIT} deep"
    except tomllib.TOMLDecodeError as error:
        at = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        number = f"line {at[1] or len(text.rstrip().splitlines()) or 1}: " if at else ""
        what = f"{number}not TOML: {line(str(error).removesuffix(at[0] if at else ''))}"
    except RecursionError:
        what = "not TOML: nested too deeply"
    raise ConfigError((Problem(str(path), "", what),))


def _is_nested(values: Any, levels: int) -> bool:
    """Whether there are more than so many levels of tables and lists in a value."""
    level = [values]
    for _ in range(levels):
        held = [each for one in level for each in (one.values() if isinstance(one, dict) else one)]
        level = [one for one in held if isinstance(one, dict | list)]
        if not level:
            return False
    return True
