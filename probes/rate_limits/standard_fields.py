"""The fields of the standard for rate limits, ``RateLimit`` and ``RateLimit-Policy``, in all forms of its drafts; pure.

Source: draft-ietf-httpapi-ratelimit-headers. Up to 03 (and in Envoy) the policies stand behind the limit,
``RateLimit-Limit: 100, 100;w=60``; 04 to 06 have ``RateLimit-Policy: 100;w=60``, 07 also ``RateLimit: limit=100,
remaining=0, reset=30``; from 08 on policies have names: ``RateLimit-Policy: "default";q=100;w=60`` and
``RateLimit: "default";r=0;t=30``.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import http_sf

from probes.rate_limits.bucket import Bucket, amount_of
from probes.rate_limits.limit_names import Field, policy_limit
from probes.rate_limits.windows import window_word

LONGEST_FIELD: Final = 4_000
"""Characters of a field that is read; the parser takes 3 ms for so many."""

_STATE: Final = ("ratelimit", "x-ratelimit")
_POLICY: Final = ("ratelimit-policy", "x-ratelimit-policy")
_DICTIONARY: Final[Mapping[str, Field]] = {"limit": "limit", "remaining": "remaining", "reset": "reset"}


class Policy(NamedTuple):
    """One policy, or the state of one: its name ("" for none) and parameters, such as ``q``, ``w``, ``r`` and ``t``."""

    name: str
    parameters: Mapping[str, Any]

    def parameter(self, name: str) -> float | None:
        """Return a parameter as a number, or None if it is missing, negative or no number."""
        found = amount_of(str(self.parameters.get(name)))
        return found if found is not None and found >= 0 else None

    def bucket(self) -> Bucket | None:
        """Return the bucket of this policy, or None if its unit is not counted here or no number is known."""
        width = self.parameter("w")
        window = None if width is None else window_word(width)
        limit = policy_limit(self.name, str(self.parameters.get("qu", "")), window)
        numbers = self.parameter("q"), self.parameter("r"), self.parameter("t")
        return Bucket(*limit, *numbers) if limit is not None and numbers != (None, None, None) else None


def amounts_and_policies(text: str) -> tuple[list[float], list[Policy]]:
    """Return the amounts in a field such as ``RateLimit-Limit``, and the policies that stand behind them.

    A limit that has its window with it, ``100;w=60``, is both.
    """
    plain = amount_of(text)
    if plain is not None:
        return [plain], []
    items = [(amount, found) for found in _items(text) if (amount := found.parameter("q")) is not None]
    policies = [found for _, found in items if "w" in found.parameters]
    amounts = [amount for amount, found in items if "w" not in found.parameters]
    return amounts or [amount for amount, _ in items[:1]], policies


def policies(headers: Mapping[str, str]) -> list[Policy]:
    """Return the policies of ``RateLimit-Policy``. Header names are in lower case."""
    return [policy for name in _POLICY for policy in _items(headers.get(name, ""))]


def states(headers: Mapping[str, str]) -> list[Policy]:
    """Return the states of named policies in ``RateLimit`` (draft 08 and later). Header names are in lower case."""
    return [state for name in _STATE for state in _items(headers.get(name, "")) if state.name]


def unnamed_state(headers: Mapping[str, str]) -> dict[Field, str]:
    """Return limit, remaining and reset as ``RateLimit`` of draft 07 has them. Header names are in lower case."""
    found: dict[Field, str] = {}
    for name in _STATE:
        members = _parsed(headers.get(name, ""), "dictionary")
        for key, value in members.items() if isinstance(members, dict) else ():
            if key in _DICTIONARY and isinstance(value, tuple) and value[0] is not True:
                found[_DICTIONARY[key]] = str(value[0])
    return found


def _items(text: str) -> list[Policy]:
    """The items of a list: a number is the quota of a policy, any other item its name."""
    found = []
    for item, parameters in _parsed(text, "list") or []:
        if isinstance(item, int | Decimal) and not isinstance(item, bool):
            found.append(Policy(str(parameters.get("name", "")), {**parameters, "q": item}))
        elif not isinstance(item, list):
            found.append(Policy(str(item), parameters))
    return found


def _parsed(text: str, form: str) -> Any:
    """A structured field of that form (RFC 9651), in lower case as its keys must be; None where it is none."""
    if not text or len(text) > LONGEST_FIELD:
        return None
    try:
        return http_sf.parse(text.lower().encode(), tltype=form)
    except http_sf.StructuredFieldError:
        return None
