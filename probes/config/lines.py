"""On which line of a configuration file a key stands, and a problem; pure."""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from probes.config_error import Problem

_ENDPOINT: Final = re.compile(r"(endpoint|race\.prompt)\[(\d+)\]")
_UNKNOWN: Final = re.compile(r"(?:unknown|missing) key '([^']*)'")
_SYNTAX: Final = re.compile(r"line (\d+): ")


def problem_words(problems: Sequence[Problem], text: str) -> str:
    """The first problem of a file in words that begin with its line, if that is found; and how many there are more."""
    problem = problems[0]
    what = problem.what
    if (number := problem_line(problem, text)) is not None:
        what = _SYNTAX.sub("", what, count=1)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    if number is None:
        return ": ".join(part for part in (problem.where, what) if part) + more
    return ": ".join(part for part in (f"line {number}{more}", problem.where, what) if part)


def problem_line(problem: Problem, text: str) -> int | None:
    """The line (from 1) that a problem is about: its key's, else that of what is around it; None where it has none."""
    if (syntax := _SYNTAX.match(problem.what)) is not None:
        return int(syntax[1])
    place, _, key = problem.where.rpartition(": ")
    table, wanted = "", [part for part in key.split(".") if part]
    if (numbered := _ENDPOINT.match(problem.where)) is not None:
        table = f"{numbered[1]}[{numbered[2]}]"
        wanted = [part for part in key.split(".") if part] if place else []
    if (named := _UNKNOWN.match(problem.what)) is not None:
        wanted = named[1].split(".")
    full = [*([table] if table else []), *wanted]
    best: tuple[int, int] | None = None
    for number, path in places(text):
        length = len(path)
        if path == tuple(full[:length]) and length and (best is None or length > best[0]):
            best = length, number
    return None if best is None else best[1]


def places(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every line that begins a table or sets a key, with the path of that: ``("endpoint[2]", "timeout", "total")``.

    None of a text that is not TOML.
    """
    from probes.config.edit.layout import elements, sections  # only where a line is asked for

    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    feeds = [at for at, one in enumerate(text) if one == "\n"]

    def line(place: int) -> int:
        return bisect_left(feeds, place) + 1

    counts = dict[tuple[str, ...], int]()
    for section in sections(text):
        if section.opens:
            counts[section.path] = counts.get(section.path, 0) + 1
        table = _numbered(section.path, counts)
        if section.path:
            yield line(section.header.start), table
        for entry in section.entries:
            path = (*section.path, *entry.path)
            yield line(entry.lines.start), (*table, *entry.path)
            if text[entry.value.start] == "[":
                for number, element in enumerate(elements(text, entry.value), start=1):
                    yield line(element.start), (_name(path, number),)


def _numbered(path: tuple[str, ...], counts: Mapping[tuple[str, ...], int]) -> tuple[str, ...]:
    """The path of a table, below the newest table of a list where it is one of that, or in that."""
    for listed, count in counts.items():
        if path[: len(listed)] == listed:
            return (_name(listed, count), *path[len(listed) :])
    return path


def _name(listed: tuple[str, ...], number: int) -> str:
    """A table of a list as problems name it: ``race.prompt[2]``."""
    return f"{'.'.join(listed)}[{number}]"
