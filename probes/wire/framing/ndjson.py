"""NDJSON: one JSON object per line; bytes in, lines out, split on LF only (never at U+2028 and its kin)."""

import json
from abc import abstractmethod
from typing import Any

from probes.events import EVENT_LIMIT, Event, Failure
from probes.outcome import Outcome
from probes.text import line
from probes.wire.errors.response_error import failure_in_stream, is_error
from probes.wire.framing.record_reader import RecordReader


class NdjsonDecoder:
    """An incremental decoder. A line above ``limit`` bytes, or one that is not UTF-8, ends the decoding and says so.

    Memory stays bounded whatever comes. What is left at the end of the body is a line too.
    """

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()
        self.overflowed = False
        self.not_utf8 = False

    def feed(self, data: bytes) -> list[str]:
        """The lines, blank ones left out, that ``data``, the next bytes of the body, completes."""
        if self.overflowed or self.not_utf8:
            return []
        first, *others = data.split(b"\n")
        if not others:
            self._rest += first
            return self._taken([])
        *whole, rest = others
        lines = [bytes(self._rest) + first, *whole]
        self._rest[:] = rest
        return self._taken(lines)

    def close(self) -> list[str]:
        """The line left over at the end of the body, if any."""
        return self.feed(b"\n")

    def _taken(self, lines: list[bytes]) -> list[str]:
        taken: list[str] = []
        for one in lines:
            if len(one) > self._limit:
                self._overflow()
                return taken
            if not one.strip():
                continue
            try:
                taken.append(one.decode())
            except UnicodeDecodeError:
                self.not_utf8 = True
                return taken
        if len(self._rest) > self._limit:
            self._overflow()
        return taken

    def _overflow(self) -> None:
        self.overflowed = True
        self._rest.clear()


class NdjsonReader(RecordReader[str]):
    """A `RecordReader` of lines that are a JSON object each."""

    def __init__(self) -> None:
        super().__init__(NdjsonDecoder(), "a line")

    @abstractmethod
    def _record(self, record: dict[str, Any]) -> list[Event]:
        """The events of one record, a `StreamEnd` or `Failure` last."""

    def _events(self, frame: str) -> list[Event]:
        try:
            record = json.loads(frame)
        except (ValueError, RecursionError):
            return [Failure(Outcome.PROTOCOL, line(f"not JSON: {frame[:200]}"))]
        if isinstance(record, dict):
            self._begun = True
            return self._record(record)
        if is_error(record):
            return [failure_in_stream(record)]
        return [Failure(Outcome.PROTOCOL, line(f"not an object: {frame[:200]}"))]
