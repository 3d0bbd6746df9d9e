"""On which line of a configuration file a key stands, and a problem; pure.

Read line by line: keys of tables that are written in one line, and strings over several lines, may hide a key.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from probes.config_error import Problem

_KEY: Final = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
"""The key of a line ``key = value``, or several with dots between them."""

_HEADING: Final = re.compile(r"\s*(\[\[?)\s*([^]]*?)\s*\]")
_ENDPOINT: Final = re.compile(r"(endpoint|race\.prompt)\[(\d+)\]")
_UNKNOWN: Final = re.compile(r"(?:unknown|missing) key '([^']*)'")
_SYNTAX: Final = re.compile(r"line (\d+): ")


def problem_words(problems: Sequence[Problem], text: str) -> str:
    """The first problem of a file in words that begin with its line, if that is found; and how many there are more."""
    problem = problems[0]
    what = problem.what
    if (number := problem_line(problem, text)) is not None:
        what = _SYNTAX.sub("", what, count=1)
    found = [None if number is None else f"line {number}", problem.where or None, what]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return ": ".join(part for part in found if part) + more


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
    """Every line that begins a table or sets a key, with the path of that: ``("endpoint[2]", "timeout", "total")``."""
    counts = dict[str, int]()
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if (heading := _HEADING.match(line)) is not None:
            name = re.sub(r"\s*\.\s*", ".", heading[2])
            if heading[1] == "[[":
                counts[name] = counts.get(name, 0) + 1
                table = (f"{name}[{counts[name]}]",)
            else:
                table = _path(name, counts)
            yield number, table
        elif (key := _KEY.match(line)) is not None:
            yield number, (*table, *(part.strip().strip("\"'") for part in key[1].split(".")))


def _path(name: str, counts: dict[str, int]) -> tuple[str, ...]:
    """The path of a table ``[name]``: below the newest table of a list, where it is one of that."""
    for listed, count in counts.items():
        if name.startswith(f"{listed}."):
            return (f"{listed}[{count}]", *name.removeprefix(f"{listed}.").split("."))
    return tuple(name.split("."))
