"""What all readers of records share: they end once, and what is no record is told plainly, whatever the dialect."""

from typing import Any

import pytest

from probes.events import EVENT_LIMIT, Event, Failure, Kind, Output, StreamEnd
from probes.outcome import Outcome
from probes.wire.framing.json_values import Malformed
from probes.wire.framing.record_reader import NdjsonReader, SseReader

CUT = Failure(Outcome.CUT, "no end")


def events(record: dict[str, Any]) -> list[Event]:
    """A dialect of three words."""
    if "end" in record:
        return [StreamEnd()]
    if "bad" in record:
        raise Malformed("bad is no record")
    if "deep" in record:
        raise RecursionError
    return [Output(Kind.ANSWER, record["text"])]


class Lines(NdjsonReader):
    def _record(self, record: dict[str, Any]) -> list[Event]:
        return events(record)

    def _end_of_body(self) -> StreamEnd | Failure:
        return StreamEnd("without a mark") if self._begun else CUT


class Events(SseReader):
    def _record(self, record: dict[str, Any], name: str) -> list[Event]:
        return events({**record, name: 1} if name == "end" else record)

    def _end_of_body(self) -> StreamEnd | Failure:
        return StreamEnd("without a mark") if self._begun else CUT


def sse(*records: str) -> bytes:
    return "".join(f"data: {one}\n\n" for one in records).encode()


def lines(*records: str) -> bytes:
    return "".join(f"{one}\n" for one in records).encode()


BOTH = pytest.mark.parametrize(("reader", "framed"), [(Lines, lines), (Events, sse)])
TEXT = Output(Kind.ANSWER, "a")


@BOTH
def test_nothing_counts_behind_the_end(reader, framed):
    one = reader()
    assert one.feed(framed('{"text": "a"}', '{"end": 1}', '{"text": "b"}')) == [TEXT, StreamEnd()]
    assert one.feed(framed('{"text": "c"}')) == []
    assert one.close() == []


@BOTH
@pytest.mark.parametrize(("begun", "end"), [(True, StreamEnd("without a mark")), (False, CUT)])
def test_a_body_without_an_end_is_ended_once_by_whether_it_had_begun(reader, framed, begun, end):
    one = reader()
    one.feed(framed('{"text": "a"}') if begun else b"")
    assert one.close() == [end]
    assert one.close() == []
    assert one.feed(framed('{"text": "c"}')) == []


@BOTH
@pytest.mark.parametrize(
    ("record", "failure"),
    [
        ('{"bad": 1}', Failure(Outcome.PROTOCOL, "bad is no record")),
        ("[1]", Failure(Outcome.PROTOCOL, "not an object: [1]")),
        ("{broken", Failure(Outcome.PROTOCOL, "not JSON: {broken")),
        ("x" * 300, Failure(Outcome.PROTOCOL, "not JSON: " + "x" * 200)),
        ("[" + "1," * 150 + "1]", Failure(Outcome.PROTOCOL, "not an object: [" + "1," * 99 + "1")),
        ('[{"error": "no room"}]', Failure(Outcome.STREAM_ERROR, "no room")),
        ("[" * 100_000, Failure(Outcome.PROTOCOL, "not JSON: " + "[" * 200)),
    ],
)
def test_what_is_no_record_ends_the_response_and_is_shown(reader, framed, record, failure):
    one = reader()
    assert one.feed(framed('{"text": "a"}', record, '{"text": "b"}')) == [TEXT, failure]
    assert one.close() == []


@pytest.mark.parametrize(("reader", "what"), [(Lines, "a line"), (Events, "an event")])
def test_what_is_too_long_or_not_utf_8_is_told_by_what_it_is(reader, what):
    long = reader()
    told = long.feed(b"data: " + b"x" * (EVENT_LIMIT + 1))
    assert told == [Failure(Outcome.PROTOCOL, f"{what} of more than 262,144 bytes")]
    assert long.close() == []
    strange = reader()
    assert strange.feed(b"data: \xff\xfe\n\n") == [Failure(Outcome.PROTOCOL, f"{what} that is not UTF-8")]
    assert strange.close() == []


def test_an_event_has_a_name_that_may_make_an_error_of_any_text():
    assert Events().feed(b"event: end\ndata: {}\n\n") == [StreamEnd()]
    assert Events().feed(b"event: error\ndata: no room\n\n") == [Failure(Outcome.STREAM_ERROR, "no room")]
    assert Events().feed(b'event: error\ndata: "no room"\n\n') == [Failure(Outcome.STREAM_ERROR, "no room")]
    assert Events().feed(b"event: error\ndata: \n\ndata:   \n\n") == [], "an event of blanks is a sign of life"


@pytest.mark.parametrize("made", [Lines, Events])
def test_a_record_that_is_read_and_too_deep_for_its_dialect_is_protocol(made):
    body = b'{"deep": 1}\n' if made is Lines else sse('{"deep": 1}')
    what = "a line" if made is Lines else "an event"
    assert made().feed(body) == [Failure(Outcome.PROTOCOL, f"{what} that is nested too deeply")]
