"""Values out of a provider's JSON, where any field may be missing, null or of another type than promised."""

import json
import math
from typing import Any, Final

LARGEST_COUNT: Final = 1 << 53
"""Above this a count is nonsense (and would not survive a store or another JSON reader)."""

_NOTHING: Final[dict[str, Any]] = {}


_DECODER: Final = json.JSONDecoder()


def parsed(text: str) -> Any:
    """The same as ``json.loads``, in two thirds of its time where there are no blanks around an object.

    Raises ValueError and RecursionError, as ``json.loads`` does.
    """
    if text.startswith("{"):
        value, end = _DECODER.raw_decode(text)
        if end == len(text):
            return value
    return json.loads(text)


class Malformed(ValueError):  # noqa: N818  # its message is the detail of a sample
    """A record with a value of a type that its dialect does not allow there."""


def object_in(record: dict[str, Any], name: str) -> dict[str, Any]:
    """A field that can only be an object; an empty one (never to be written to) where it is missing, null or empty.

    Raises Malformed where it is anything else.
    """
    value = record.get(name)
    if isinstance(value, dict):
        return value
    if value:
        raise Malformed(f"{name} is not an object: {_shown(value)}")
    return _NOTHING


def objects_in(record: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """A field that can only be a list of objects; nulls in it are left out. Raises Malformed for anything else."""
    value = record.get(name)
    if not value:
        return []
    if not isinstance(value, list) or not all(one is None or isinstance(one, dict) for one in value):
        raise Malformed(f"{name} is not a list of objects: {_shown(value)}")
    return [one for one in value if one is not None]


def text_in(record: dict[str, Any], name: str) -> str:
    """A field that can only be text; empty where it is missing, null or empty. Raises Malformed for anything else."""
    value = record.get(name)
    if isinstance(value, str):
        return value
    if value or (isinstance(value, int | float) and value is not False):  # a 0 would be a lost piece of text
        raise Malformed(f"{name} is not text: {_shown(value)}")
    return ""


def _shown(value: object) -> str:
    """The beginning of a value, as JSON where it can be."""
    try:
        return json.dumps(value, ensure_ascii=False)[:200]
    except (ValueError, RecursionError):
        return f"a {type(value).__name__}"


def mapping(value: object) -> dict[str, Any]:
    """``value`` where it is a JSON object, else an empty one (never to be written to)."""
    return value if isinstance(value, dict) else _NOTHING


def string(value: object) -> str | None:
    """``value`` where it is a string with something in it."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int | None:
    """``value`` where it is a whole number that can be a count: not negative, not absurd, not a bool.

    Numbers written as strings count: gateways turn usage into text.
    """
    if isinstance(value, str):
        value = number(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT:
        return value
    return None


def number(value: object) -> float | None:
    """``value`` where it is a finite number that is not negative; numbers written as strings count (Fireworks)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None
