"""What differs between two readings of a configuration, and where in the file a problem is; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from probes.config.load import Config
from probes.config_error import Problem
from probes.endpoint import Endpoint

_KEY: Final = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
"""The key of a line ``key = value``, or several with dots between them."""

_HEADING: Final = re.compile(r"\s*(\[\[?)\s*([^]]*?)\s*\]")
_ENDPOINT: Final = re.compile(r"(endpoint|race\.prompt)\[(\d+)\]")
_UNKNOWN: Final = re.compile(r"(?:unknown|missing) key '([^']*)'")
_SYNTAX: Final = re.compile(r"line (\d+): ")


@dataclass(frozen=True, slots=True)
class EndpointChanges:
    """The names of endpoints that came, went, or are configured in another way; each in the order of the new file."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def endpoint_changes(before: Iterable[Endpoint], after: Iterable[Endpoint]) -> EndpointChanges:
    """What differs between two lists of endpoints; one that is switched on or off came or went."""
    old = {one.name: one for one in before if one.enabled}
    new = {one.name: one for one in after if one.enabled}
    return EndpointChanges(
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(name for name, one in new.items() if name in old and old[name] != one),
    )


def settings_changed(before: Config, after: Config) -> tuple[str, ...]:
    """The tables beside the endpoints that differ and are taken over while inftop runs, as the file names them."""
    pairs = (
        ("[budget]", before.budget, after.budget),
        ("[control]", before.reachability_plan, after.reachability_plan),
        ("[[race.prompt]]", before.prompts, after.prompts),
        ("[screen]", _fixed(before), _fixed(after)),
    )
    return tuple(name for name, old, new in pairs if old != new)


def restart_needed(running: Config, newest: Config) -> tuple[str, ...]:
    """The keys that differ from those an engine was started with, and that it cannot take over."""
    pairs = (
        ("[store] url", running.store_url, newest.store_url),
        ("[store] vantage", running.vantage, newest.vantage),
        ("[control] models", running.models_every, newest.models_every),
        ("[store] retention", running.retention, newest.retention),
    )
    return tuple(name for name, old, new in pairs if old != new)


def _fixed(config: Config) -> dict[str, str]:
    """What ``[screen]`` fixes, without the lines where that stands."""
    return {option: fixed.value for option, fixed in config.screen.items()}


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
    """The line (from 1) of a file that a problem is about: its key's, else that of the table; None where neither is.

    Read line by line: keys of tables that are written in one line, and strings over several lines, may hide a key;
    then it is the line of what is around it.
    """
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
    for number, path in _places(text):
        length = len(path)
        if path == tuple(full[:length]) and length and (best is None or length > best[0]):
            best = length, number
    return None if best is None else best[1]


def _places(text: str) -> Iterable[tuple[int, tuple[str, ...]]]:
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
