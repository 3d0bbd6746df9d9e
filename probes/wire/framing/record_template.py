"""Reading a stream's records that differ from the last one only in their text, without parsing the JSON again."""

import re
from collections.abc import Sequence
from typing import Final

from probes.events import Event, Kind, Output

_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]+')
"""Text that stands in a JSON string as it is, without escapes."""


class RecordTemplate:
    """The last record that was nothing but one output, as a template: what stood before and after its text.

    A record with the same before and after means the same except for the text. So a fast stream, whose records are
    alike for hundreds of tokens, is parsed once and not for every token. Only texts and records without escapes are
    read like this.
    """

    def __init__(self) -> None:
        self._before = self._after = ""
        self._output = Output(Kind.ANSWER, "")

    def match(self, record: str) -> Output | None:
        """The output of a record that fits the template; None where it must be parsed."""
        before, after = self._before, self._after
        if not before or not record.startswith(before) or not record.endswith(after):
            return None
        text = record[len(before) : len(record) - len(after)]
        return Output(self._output.kind, text, None, False, self._output.raw) if _PLAIN.fullmatch(text) else None

    def remember(self, record: str, events: Sequence[Event]) -> None:
        """Make a template of a record that was parsed into these events, if they are one plain output; else none."""
        self._before = ""
        if len(events) != 1 or not isinstance(one := events[0], Output) or one.tokens is not None or one.draft:
            return
        quoted = f'"{one.text}"'
        if "\\" not in record and record.count(quoted) == 1:  # then the text stands here and nowhere else
            at = record.index(quoted) + 1
            self._before, self._after = record[:at], record[at + len(one.text) :]
            self._output = one
