"""The columns of an export: what each is called and what kind of value it holds."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from probes.config.checks import did_you_mean
from probes.sample import COLUMNS
from probes.store.row import ENDPOINT_COLUMNS, KINDS
from probes.text import line

Holds = Literal["instant", "int", "float", "bool", "text", "word"]
"""``instant`` is milliseconds since the epoch, ``word`` a text of which there are few, often repeated."""

Row = tuple[int | float | bool | str | None, ...]
"""One value per column; None is not known."""

_WORDS: Final = {*ENDPOINT_COLUMNS, "finish_reason", "prompt_version", "served_model", "served_tier"}


class ExportColumn(NamedTuple):
    """A column, and what it holds."""

    name: str
    holds: Holds


class UnknownColumn(ValueError):  # noqa: N818  # reads as what it says
    """A name that no column has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        hint = did_you_mean(name, known) or f"; known are {', '.join(known)}"
        super().__init__(f"no column is named {line(name, 60)!r}{hint}")


def _holds(name: str) -> Holds:
    return "instant" if name == "started_at" else "word" if name in _WORDS else KINDS[name]


OF_SAMPLES: Final = tuple(ExportColumn(name, _holds(name)) for name in COLUMNS)
"""The columns of a sample, in the order of `probes.sample.COLUMNS`."""


def chosen(names: Iterable[str], of: Sequence[ExportColumn] = OF_SAMPLES) -> tuple[ExportColumn, ...]:
    """The columns of these names, in that order. Raises UnknownColumn, and ValueError for one named twice."""
    known = {one.name: one for one in of}
    wanted = list(names)
    for place, name in enumerate(wanted):
        if name not in known:
            raise UnknownColumn(name, list(known))
        if name in wanted[:place]:
            raise ValueError(f"the column {name!r} is named twice")
    return tuple(known[name] for name in wanted)
