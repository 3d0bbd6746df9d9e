"""Selects endpoints of a configuration by name or by group."""

from collections.abc import Sequence

from probes.config import checks
from probes.endpoint import Endpoint


class UnknownEndpoint(LookupError):  # noqa: N818  # reads as what it says
    """A name that no endpoint of the configuration has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        hint = checks.did_you_mean(name, known) or "."
        super().__init__(f"no endpoint is named {checks.shown(name)}{hint} Known: {', '.join(known)}")


class UnknownGroup(LookupError):  # noqa: N818  # reads as what it says
    """A name that no group of enabled endpoints has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        hint = checks.did_you_mean(name, known) or "."
        super().__init__(f"no enabled endpoint is in a group {checks.shown(name)}{hint} Known: {', '.join(known)}")


def choose(endpoints: Sequence[Endpoint], names: Sequence[str]) -> list[Endpoint]:
    """The endpoints of these names, in their order; all enabled ones where none is named. Raises UnknownEndpoint."""
    if not names:
        return [one for one in endpoints if one.enabled]
    by_name = {one.name: one for one in endpoints}
    if unknown := next((name for name in names if name not in by_name), None):
        raise UnknownEndpoint(unknown, list(by_name))
    return [by_name[name] for name in names]


def in_group(endpoints: Sequence[Endpoint], group: str) -> list[Endpoint]:
    """The enabled endpoints of a group, in their order. One that names no group is in that of its model's name.

    Raises UnknownGroup.
    """
    enabled = [one for one in endpoints if one.enabled]
    members = [one for one in enabled if (one.group or one.model) == group]
    if not members:
        raise UnknownGroup(group, list(dict.fromkeys(one.group or one.model for one in enabled)))
    return members
