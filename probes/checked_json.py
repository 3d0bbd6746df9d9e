"""Checked: a dataclass made of JSON, found to hold what its annotations say; JSON itself promises nothing."""

from dataclasses import fields
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Hashable

T = TypeVar("T")

_SCALARS: Final = (bool, int, float, str, NoneType)


def checked(value: T) -> T:
    """The dataclass instance itself. Raises TypeError for a scalar field of another type, or a number not finite."""
    for name, kinds in _kinds(cast("Hashable", type(value))):
        held = getattr(value, name)
        if type(held) not in kinds or (type(held) is float and not isfinite(held)):
            raise TypeError(f"{type(value).__name__}.{name} cannot be {held!r:.60}")
    return value


@cache
def _kinds(kind: Any) -> tuple[tuple[str, frozenset[type]], ...]:
    """The fields that hold scalars, and the types their values may have."""
    found = ((one.name, _options(one.type)) for one in fields(kind))
    return tuple((name, options) for name, options in found if options)


def _options(annotation: Any) -> frozenset[type]:
    """The types of an annotation; none where it is not made of scalars alone. A float may be written as an int."""
    if annotation is float:
        return frozenset({float, int})
    if annotation in _SCALARS:
        return frozenset({annotation})
    if get_origin(annotation) is Literal:
        return frozenset(type(one) for one in get_args(annotation))
    if get_origin(annotation) not in (Union, UnionType):
        return frozenset()
    options = [_options(one) for one in get_args(annotation)]
    return frozenset().union(*options) if all(options) else frozenset()
