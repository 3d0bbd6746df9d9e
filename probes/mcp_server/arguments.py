"""The arguments of a tool, checked against its schema, with errors in words that say what to send instead; pure."""

from collections.abc import Mapping
from typing import Any, Final

NAME_LIMIT: Final = 200
"""Characters of a name at most."""


class BadArgument(ValueError):  # noqa: N818  # reads as what it says
    """An argument that is not as the tool's schema says; str says what is, and quotes nothing of what was sent."""


def checked(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool with the defaults of those that are left out.

    Of JSON Schema it knows what the tools' own schemas use: ``type``, ``enum``, ``minimum``, ``maximum``,
    ``maxLength``, ``minLength``, ``maxItems`` and ``default``. Raises BadArgument.
    """
    properties = schema["properties"]
    if any(name not in properties for name in given):
        raise BadArgument(f"this tool takes {', '.join(properties)} and nothing else")
    for name in schema.get("required", ()):
        if given.get(name) is None:
            raise BadArgument(f"{name} is missing: {properties[name]['description']}")
    return {
        name: rule.get("default") if given.get(name) is None else _value(name, rule, given[name])
        for name, rule in properties.items()
    }


def _value(name: str, rule: Mapping[str, Any], value: Any) -> Any:
    kind = rule["type"]
    if kind == "array":
        if not isinstance(value, list) or len(value) > rule["maxItems"]:
            raise BadArgument(f"{name} must be a list of at most {rule['maxItems']}")
        return [_value(f"each of {name}", rule["items"], one) for one in value]
    if kind == "boolean":
        if not isinstance(value, bool):
            raise BadArgument(f"{name} must be true or false")
        return value
    return _number(name, rule, value) if kind == "integer" else _text(name, rule, value)


def _number(name: str, rule: Mapping[str, Any], value: Any) -> int:
    low, high = rule["minimum"], rule["maximum"]
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
    if not whole or not low <= value <= high:
        raise BadArgument(f"{name} must be a whole number from {low} to {high}")
    return int(value)


def _text(name: str, rule: Mapping[str, Any], value: Any) -> str:
    if "enum" in rule:
        if value not in rule["enum"]:
            raise BadArgument(f"{name} must be one of {', '.join(rule['enum'])}")
        return str(value)
    if not isinstance(value, str) or not 0 < len(value) <= rule["maxLength"]:
        raise BadArgument(f"{name} must be text of 1 to {rule['maxLength']} characters")
    return value
