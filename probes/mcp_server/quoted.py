"""What an agent is told of texts that others wrote: bounded, without anything invisible, and marked as data; pure."""

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from probes.keys.secret import without_key_like_words
from probes.text import line, plain

LIMIT: Final = 200
"""Characters of a text at most."""

MARK: Final = "untrusted_text"
"""The key beside which a text of others stands."""

_OF_OTHERS: Final = frozenset(
    {"why", "why_not", "detail", "evidence", "resolved_why", "note", "acknowledged_by", "cause"}
)
"""Fields that can hold what a provider or a person wrote, sentences included; names stand in fields of their own."""

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
"""Unicode's categories of characters that a person does not see, and a model reads: tags, joiners, private ones."""


def quoted(value: Any) -> Any:
    """An answer as an agent is told it: every text in it is visible and bounded, that of others is marked."""
    if isinstance(value, Mapping):
        return {key: _marked(one) if key in _OF_OTHERS else quoted(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [quoted(one) for one in value]
    return visible(value) if isinstance(value, str) else value


def visible(text: str) -> str:
    """A text as one line of at most `LIMIT` characters that can be seen."""
    seen = [one for one in plain(text) if one.isspace() or unicodedata.category(one) not in _INVISIBLE]
    return line("".join(seen), LIMIT)


def _marked(value: Any) -> Any:
    if isinstance(value, str):
        return {MARK: visible(without_key_like_words(value))}
    return [_marked(one) for one in value] if isinstance(value, list | tuple) else quoted(value)
