"""The words of a quick command's line, for which the parser need not be imported."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from probes.config.file import Named

NAMING: Final = {"--config": "config", "--store": "store"}
"""The options by which every command line names a configuration and a store."""


class Words(NamedTuple):
    """What a command line gives: its arguments, the values of its options by their parameter, and the flags."""

    arguments: list[str]
    values: dict[str, str]
    flags: set[str]


def parsed(words: Sequence[str], options: Mapping[str, str], flags: Mapping[str, str]) -> Words | None:
    """The words of a line; None where anything in it is not plainly right: the parser says what is wrong, or helps.

    ``options`` take a value, as ``--by ttft`` or ``--by=ttft``, ``flags`` none; both name a parameter. Of an option
    that is given twice the last value counts.
    """
    found = Words([], {}, set())
    left = list(words)
    while left:
        word = left.pop(0)
        name, is_there, value = word.partition("=")
        if not word.startswith("-"):
            found.arguments.append(word)
        elif word in flags:
            found.flags.add(flags[word])
        elif name in options and is_there:
            found.values[options[name]] = value
        elif word in options and left and not left[0].startswith("-"):
            found.values[options[word]] = left.pop(0)
        else:
            return None
    return found


def parsed_command(
    words: Sequence[str], command: str, options: Mapping[str, str], flags: Mapping[str, str]
) -> Words | None:
    """The words after a command that takes no arguments, and those of `NAMING` on either side of it.

    None where anything is not plainly right, as of `parsed`, or the command is not there.
    """
    if command not in words:
        return None
    place = words.index(command)
    before, after = parsed(words[:place], NAMING, {}), parsed(words[place + 1 :], {**NAMING, **options}, flags)
    if before is None or after is None or before.arguments or after.arguments:
        return None
    found = after._replace(values=before.values | after.values)
    return None if "" in (found.values.get("config"), found.values.get("store")) else found


def named(values: Mapping[str, str]) -> "Named":
    """What the values of `NAMING` name. Raises ValueError for what is no store."""
    from pathlib import Path

    from probes.config.file import Named
    from probes.store.location import url_of

    config, store = values.get("config"), values.get("store")
    return Named(None if config is None else Path(config), None if store is None else url_of(store))
