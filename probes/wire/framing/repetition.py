"""Repetition: a stream's records that differ from the last one in nothing but the text, read without parsing them."""

import re
from collections.abc import Sequence
from typing import Final

from probes.events import Event, Kind, Output

_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]+')
"""What stands in a JSON string as it is."""


class Repetition:
    """Remembers what stood around the text of the last record that was nothing but a piece of text.

    A record with the same around it means the same, but for the text: so a fast stream, whose records are alike for
    hundreds of tokens, is parsed once and not for every token. Only texts and records without escapes are read so.
    """

    def __init__(self) -> None:
        self._before = self._after = ""
        self._like = Output(Kind.ANSWER, "")

    def output(self, record: str) -> Output | None:
        """The output of a record that is like the last one; None where it must be parsed."""
        before, after = self._before, self._after
        if not before or not record.startswith(before) or not record.endswith(after):
            return None
        text = record[len(before) : len(record) - len(after)]
        return Output(self._like.kind, text, None, False, self._like.raw) if _PLAIN.fullmatch(text) else None

    def learn(self, record: str, events: Sequence[Event]) -> None:
        """Remember a record that was parsed, and what it meant."""
        self._before = ""
        if len(events) != 1 or not isinstance(one := events[0], Output) or one.tokens is not None or one.draft:
            return
        quoted = f'"{one.text}"'
        if "\\" not in record and record.count(quoted) == 1:  # then this is where the text stands, and nothing else
            at = record.index(quoted) + 1
            self._before, self._after = record[:at], record[at + len(one.text) :]
            self._like = one
