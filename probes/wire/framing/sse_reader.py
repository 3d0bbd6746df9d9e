"""SseReader: what every decoder of a JSON stream over server-sent events has in common."""

from abc import abstractmethod
from typing import Any

from probes.events import Event, Failure
from probes.outcome import Outcome
from probes.text import line
from probes.wire.errors.response_error import failure_in_stream, is_error
from probes.wire.framing.json_values import parsed
from probes.wire.framing.record_reader import RecordReader
from probes.wire.framing.sse import SseDecoder, SseEvent


class SseReader(RecordReader[SseEvent]):
    """A `RecordReader` of events whose data is a JSON object, by the name they came under."""

    _decoder: SseDecoder

    def __init__(self, *, bare_json: bool = False) -> None:
        super().__init__(SseDecoder(bare_json=bare_json), "an event")

    @abstractmethod
    def _record(self, record: dict[str, Any], name: str) -> list[Event]:
        """The events of one record that came under ``name``, a `StreamEnd` or `Failure` last."""

    def _events(self, frame: SseEvent) -> list[Event]:
        try:
            record = parsed(frame.data)
        except (ValueError, RecursionError):
            record = frame.data
            if not frame.data.strip():
                return []
            if frame.name != "error":
                return [Failure(Outcome.PROTOCOL, line(f"not JSON: {frame.data[:200]}"))]
        if isinstance(record, dict):
            self._begun = True
            return self._record(record, frame.name)
        if frame.name == "error" or is_error(record):
            return [failure_in_stream(record)]
        return [Failure(Outcome.PROTOCOL, line(f"not an object: {frame.data[:200]}"))]
