"""Server-sent events: bytes in, events out, split on CR, LF and CRLF only (never at U+2028 and its kin)."""

import re
from typing import Final, NamedTuple

from probes.events import EVENT_LIMIT

STRAY_LIMIT: Final = 64 * 1024
"""Bytes that are kept of lines without a field of the format: a JSON error or an HTML page in place of a stream."""

_BOM: Final = b"\xef\xbb\xbf"
_COLON: Final = ord(":")
_CR: Final = ord("\r")
_JSON_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.?)*+"?')
"""A string of one line, whole or cut short: brackets inside it do not count. Linear in time."""


class SseEvent(NamedTuple):
    """One event: its data lines joined by LF, its ``event:`` name ("" where it has none), the last ``id:`` seen."""

    data: str
    name: str = ""
    id: str = ""


class SseDecoder:
    """An incremental decoder after the WHATWG event-stream grammar, with two differences a probe needs.

    What is left at the end of the body is an event too (providers forget the last blank line). An event or line above
    ``limit`` bytes sets ``overflowed`` and ends the decoding, so that memory stays bounded; an event whose data is not
    UTF-8 sets ``not_utf8`` and ends it too.

    With ``bare_json``, JSON on lines of its own, without ``data:``, is an event as soon as its brackets balance
    (Gemini's errors in mid-stream; python-genai reads them so, ``_api_client.py``); until then it is `stray`.
    """

    def __init__(self, limit: int = EVENT_LIMIT, *, bare_json: bool = False) -> None:
        self._limit = limit
        self._bare_json = bare_json
        self._bare_start = 0
        self._bare_depth = 0
        self._begun = False
        self._after_cr = False
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""
        self._id = ""
        self._stray = bytearray()
        self.overflowed = False
        self.not_utf8 = False
        self.keep_alives = 0
        """How many comments ``: keep-alive`` came before the first event."""
        self._any_event = False

    @property
    def stray(self) -> bytes:
        """The lines that are not server-sent events at all, LF after each, up to `STRAY_LIMIT`."""
        return bytes(self._stray)

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that ``data``, the next bytes of the body, completes. Bytes may be cut anywhere."""
        if self.overflowed or self.not_utf8:
            return []
        if not self._begun:
            data = self._without_bom(data)
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        if not data:
            return []
        lines = data.splitlines()  # of bytes: at \n, \r and \r\n, nothing else
        last = data[-1]
        self._after_cr = last == _CR
        tail = lines.pop() if last not in b"\r\n" else b""
        if lines and self._rest:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        self._rest += tail
        events = self._take(lines)
        if not self.not_utf8 and self._size + len(self._rest) > self._limit:
            self._overflow()
        return events

    def close(self) -> list[SseEvent]:
        """The event left over at the end of the body, if any."""
        rest = bytes(self._rest).removeprefix(b"" if self._begun else _BOM)
        self._rest.clear()
        return [] if self.overflowed or self.not_utf8 else self._take([rest, b""] if rest else [b""])

    def _without_bom(self, data: bytes) -> bytes:
        data = bytes(self._rest) + data
        self._rest.clear()
        if _BOM.startswith(data):
            self._rest += data  # may still turn out to be one
            return b""
        self._begun = True
        return data.removeprefix(_BOM)

    def _take(self, lines: list[bytes]) -> list[SseEvent]:
        events = []
        for line in lines:
            if not line:
                if self._data:
                    events += self._event()
                    if self.not_utf8:
                        break
                self._name = b""
            elif self._size + len(line) > self._limit:
                self._overflow()
                break
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
                self._size += len(line)
            elif line[0] == _COLON:
                self.keep_alives += not self._any_event and line[1:].strip() == b"keep-alive"
            elif not self._take_field(line):
                events += self._take_stray(line)
                if self.not_utf8:
                    break
        return events

    def _event(self) -> list[SseEvent]:
        """The event whose data lines have come; none where they are not UTF-8."""
        self._any_event = True
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data.clear()
        self._size = 0
        name = self._name.decode("utf-8", "replace") if self._name else ""
        try:
            return [SseEvent(data.decode(), name, self._id)]
        except UnicodeDecodeError:
            self.not_utf8 = True
            return []

    def _take_field(self, line: bytes) -> bool:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self._name = value
        elif name == b"id":
            self._id = value.decode("utf-8", "replace")
        elif name == b"data":  # without a colon: an empty line of data
            self._data.append(b"")
            self._size += len(line)
        else:
            return name == b"retry"
        return True

    def _take_stray(self, line: bytes) -> list[SseEvent]:
        """Keep a line without a field; the event of bare JSON that it completes, after an unfinished one if any."""
        start = len(self._stray)
        kept = (line + b"\n")[: STRAY_LIMIT - start]
        self._stray += kept
        if not (self._bare_json and kept):
            return []
        if not self._bare_depth:
            if kept.lstrip()[:1] not in {b"{", b"["}:
                return []
            self._bare_start = start
        outside = _JSON_STRING.sub(b"", kept)
        self._bare_depth += sum(map(outside.count, (b"{", b"["))) - sum(map(outside.count, (b"}", b"]")))
        if self._bare_depth > 0:
            return []
        self._bare_depth = 0
        bare = self._stray[self._bare_start :].decode("utf-8", "replace")
        del self._stray[self._bare_start :]
        return [*(self._event() if self._data else []), SseEvent(bare, "", self._id)]

    def _overflow(self) -> None:
        self.overflowed = True
        self._rest.clear()
        self._data.clear()
