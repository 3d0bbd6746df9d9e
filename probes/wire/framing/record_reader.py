"""RecordReader: what every decoder of a stream of JSON records has in common, whatever frames the records come in."""

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from probes.events import EVENT_LIMIT, Event, Failure, StreamEnd
from probes.outcome import Outcome
from probes.text import line
from probes.wire.framing.json_values import Malformed

Frame = TypeVar("Frame")


class Framing(Protocol[Frame]):
    """Bytes in, frames out; none comes after one that was too long (``overflowed``) or no text (``not_utf8``)."""

    overflowed: bool
    not_utf8: bool

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that ``data``, the next bytes of the body, completes."""
        ...

    def close(self) -> list[Frame]:
        """What is left over at the end of the body."""
        ...


class RecordReader(ABC, Generic[Frame]):
    """One response's decoder; nothing that comes makes it raise, and nothing after `StreamEnd` or `Failure` counts.

    A dialect says what a record means and how a body without a terminal record ended.
    """

    def __init__(self, decoder: Framing[Frame], frame: str) -> None:
        """``frame`` is the word for one frame of the ``decoder``."""
        self._decoder = decoder
        self._frame = frame
        self._over = False
        self._begun = False

    def feed(self, data: bytes) -> list[Event]:
        """The events that ``data``, the next bytes of the body, completes. Bytes may be cut anywhere."""
        return self._read(self._decoder.feed(data)) if not self._over else []

    def close(self) -> list[Event]:
        """The events left over at the end of the body, then how it ended if nothing had said so."""
        if self._over:
            return []
        events = self._read(self._decoder.close())
        if not self._over:
            self._over = True
            events.append(self._verdict())
        return events

    @abstractmethod
    def _events(self, frame: Frame) -> list[Event]:
        """The events of one frame, a `StreamEnd` or `Failure` last. May raise Malformed, which ends the response."""

    @abstractmethod
    def _verdict(self) -> StreamEnd | Failure:
        """How a body ended whose records did not say so."""

    def _read(self, frames: list[Frame]) -> list[Event]:
        events: list[Event] = []
        for one in frames:
            try:
                events += self._events(one)
            except Malformed as error:
                events.append(Failure(Outcome.PROTOCOL, line(str(error))))
            if events and isinstance(events[-1], StreamEnd | Failure):
                self._over = True
                return events
        if self._decoder.overflowed:
            self._over = True
            events.append(Failure(Outcome.PROTOCOL, f"{self._frame} of more than {EVENT_LIMIT:,} bytes"))
        elif self._decoder.not_utf8:
            self._over = True
            events.append(Failure(Outcome.PROTOCOL, f"{self._frame} that is not UTF-8"))
        return events
