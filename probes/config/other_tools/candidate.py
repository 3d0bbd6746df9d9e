"""What an entry of another tool's configuration comes to: an endpoint of ours, or why it is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from probes.keys.secret import Secret


@dataclass(frozen=True, slots=True)
class PlainKey:
    """A key that stands in another tool's file as plain text, and the name it would have in the keyring."""

    name: str
    secret: Secret


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry: ``entry`` says which, in words.

    ``values`` are the keys and values of an ``[[endpoint]]`` but for its name; ``problem`` says why there are none.
    ``notes`` name what of the entry has no place here. ``key`` is its key, where that is written in the file.
    """

    entry: str
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str | None = None
    key: PlainKey | None = None
