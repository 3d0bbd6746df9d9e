"""Tap: a dialect that keeps what a server really sent, so that a test can read it without inftop's parser."""

import json
from collections.abc import Iterable
from typing import Any

from probes.events import Event
from probes.wire.dialect import Dialect, StreamReader


class Tap:
    """The dialect ``inner``, overheard. `records` are those of the last response."""

    def __init__(self, inner: Dialect) -> None:
        self._inner = inner
        self._body = bytearray()
        self.name = inner.name
        self.request = inner.request
        self.response_events = inner.response_events
        self.failure = inner.failure

    def reader(self) -> StreamReader:
        """A fresh decoder, overheard; what an earlier one heard is let go."""
        self._body.clear()
        return _Overheard(self._inner.reader(), self._body)

    @property
    def lines(self) -> list[str]:
        """The lines of the last response, as they came."""
        return self._body.decode().split("\n")

    @property
    def records(self) -> list[dict[str, Any]]:
        """The JSON of every data line but the marker."""
        datas = [line.removeprefix("data: ") for line in self.lines if line.startswith("data: ")]
        return [json.loads(data) for data in datas if data != "[DONE]"]

    @property
    def last(self) -> dict[str, Any]:
        """The record that closes the stream: llama.cpp's has ``usage`` and ``timings``, and no choices."""
        return self.records[-1]


class _Overheard:
    def __init__(self, inner: StreamReader, body: bytearray) -> None:
        self._inner = inner
        self._body = body
        self.close = inner.close

    def feed(self, data: bytes) -> Iterable[Event]:
        self._body += data
        return self._inner.feed(data)
