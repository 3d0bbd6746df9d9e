"""Truth: what the ground-truth server of a selftest knows of one answer."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Truth:
    """One finished answer; instants are monotonic ns.

    ``read_ns`` is when its request had been read, ``at`` and ``until`` are one for each output event: just before its
    write, and when that had returned.
    """

    model: str
    read_ns: int
    at: tuple[int, ...]
    until: tuple[int, ...]
    tokens: int

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Truth":
        """The truth of a record made of one."""
        return cls(**{**values, "at": tuple(values["at"]), "until": tuple(values["until"])})
