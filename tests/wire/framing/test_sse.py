"""Server-sent events: framing, cuts, leftovers, and bounded memory."""

import random
import tracemalloc

import pytest

from probes.wire.framing.sse import STRAY_LIMIT, SseDecoder, SseEvent


def decoded(*pieces, limit=1 << 20):
    decoder = SseDecoder(limit)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.close(), decoder


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("a", "", ""), ("b", "", "")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("a", "", ""), ("b", "", "")]),
        (b"data: a\r\rdata: b\r\r", [("a", "", ""), ("b", "", "")]),
        (b"data:a\n\ndata:  b\n\n", [("a", "", ""), (" b", "", "")]),
        (b"data: a\ndata: b\n\n", [("a\nb", "", "")]),
        (b"data\n\ndata\ndata\n\n", [("", "", ""), ("\n", "", "")]),
        (b": OPENROUTER PROCESSING\n\n:\n\n: keep-alive\n\ndata: a\n\n", [("a", "", "")]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [("a", "error", ""), ("b", "", "")]),
        (b"event: ping\n\ndata: a\n\n", [("a", "", "")]),
        (b"id: 7\nretry: 3000\ndata: a\n\ndata: b\n\n", [("a", "", "7"), ("b", "", "7")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("a", "", "")]),
        (b"\n\n\n\ndata: a\n\n\n\n", [("a", "", "")]),
        (b"data: left", [("left", "", "")]),
        (b"data: a\n\ndata: left\n", [("a", "", ""), ("left", "", "")]),
        ("data: a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n\n".encode(), [("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg", "", "")]),
        (b"", []),
        (b"\xef\xbb\xbf", []),
    ],
)
def test_events_of_a_body(body, events):
    assert decoded(body)[0] == [SseEvent(*one) for one in events]


def test_an_event_that_is_not_utf8_is_the_last_and_sets_the_flag():
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n\ndata: \xff\xfe ok\n\ndata: b\n\n") == [SseEvent("a")]
    assert decoder.not_utf8
    assert decoder.feed(b"data: b\n\n") == decoder.close() == []


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("end", [b"\n\n", b'\n{"error": 1}\n'])
def test_nothing_after_what_is_not_utf8_counts_wherever_it_is_cut(end, size):
    data = b"data: \xf6" + end + b"data: {}\n\n" + b"x" * 100
    decoder = SseDecoder(40, bare_json=True)
    events = [one for start in range(0, len(data), size) for one in decoder.feed(data[start : start + size])]
    assert not [one for one in [*events, *decoder.close()] if one.data == "{}"]
    assert (decoder.not_utf8, decoder.overflowed) == (True, False)


BODY = (
    '\ufeff: hello\r\ndata: {"t":"é😀\u2028"}\r\n\r\nevent: error\rid: 1\rdata:x\rdata: y\r\rdata\n\n'
    "retry: 1\r\n\r\nstray line\ndata: a\r\ndata: b\r\n\r\n\ndata: left"
).encode()


def test_any_cut_of_the_bytes_gives_the_same_events():
    whole, decoder = decoded(BODY)
    assert [one.data for one in whole] == ['{"t":"é😀\u2028"}', "x\ny", "", "a\nb", "left"]
    for at in range(len(BODY) + 1):
        events, cut = decoded(BODY[:at], BODY[at:])
        assert events == whole, at
        assert cut.stray == decoder.stray == b"stray line\n"
    assert decoded(*(bytes([one]) for one in BODY))[0] == whole
    dice = random.Random(2)
    for _ in range(300):
        cuts = sorted(dice.choices(range(len(BODY) + 1), k=dice.randint(2, 12)))
        pieces = [BODY[a:b] for a, b in zip([0, *cuts], [*cuts, len(BODY)], strict=True)]
        assert decoded(*pieces)[0] == whole, cuts


def test_events_come_with_the_byte_that_completes_them():
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\n") == [SseEvent("a")]
    assert decoder.feed(b"data: b\r\n\r") == [SseEvent("b")]
    assert decoder.feed(b"\n") == []
    assert decoder.close() == []


@pytest.mark.parametrize(
    "body",
    [
        b"data: " + b"x" * 100,  # one line
        b"data: xxxxxxxx\n" * 10,  # many lines of one event
        b"x" * 101,  # a line that never ends
        b": " + b"x" * 100 + b"\n",  # even a comment
    ],
)
def test_an_event_above_the_limit_ends_the_decoding_wherever_it_is_cut(body):
    good = b"data: good\n\n"
    for at in range(len(good + body) + 1):
        pieces = (good + body)[:at], (good + body)[at:], b"\n\ndata: late\n\n"
        events, decoder = decoded(*pieces, limit=100)
        assert events == [SseEvent("good")], at
        assert decoder.overflowed


def test_an_event_of_just_the_limit_passes():
    assert decoded(b"data: " + b"x" * 94 + b"\n\n", limit=100)[0] == [SseEvent("x" * 94)]


def test_memory_is_bounded_on_endless_lines_fields_and_strays():
    decoders = SseDecoder(1 << 16), SseDecoder(1 << 16), SseDecoder(1 << 16)
    tracemalloc.start()
    for _ in range(100):
        decoders[0].feed(b"x" * 4096)
        decoders[1].feed(b"data:\n" * 250)
        decoders[2].feed(b"stray line" * 100 + b"\n")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.overflowed for one in decoders] == [True, True, False]
    assert len(decoders[2].stray) == STRAY_LIMIT
    assert peak < 1 << 20


def bare(*pieces):
    decoder = SseDecoder(bare_json=True)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [one.data for one in events + decoder.close()], decoder.stray


@pytest.mark.parametrize(
    ("body", "events", "stray"),
    [
        (b'{\n  "a": "}{",\n  "b": [\n]\n}\ndata: c\n\n', ['{\n  "a": "}{",\n  "b": [\n]\n}\n', "c"], b""),
        (b'data: c\n[{"a": "\\\\"},\n2]', ["c", '[{"a": "\\\\"},\n2]\n'], b""),
        (b'{"a": "\\"}"}\r\n[]\r\n', ['{"a": "\\"}"}\n', "[]\n"], b""),
        (b'{"cut": "}\n', [], b'{"cut": "}\n'),
        (b"<style>\nb {\n}\n{}\n", ["{}\n"], b"<style>\nb {\n}\n"),
        (b"}\n]\n{\n}}\n{}\n", ["{\n}}\n", "{}\n"], b"}\n]\n"),
    ],
)
def test_bare_json_is_an_event_where_its_brackets_balance(body, events, stray):
    assert bare(body) == (events, stray)
    assert bare(*(body[at : at + 1] for at in range(len(body)))) == (events, stray)
    assert decoded(body)[1].stray.count(b"\n") >= 1  # without being asked for, it stays what it is: stray


@pytest.mark.parametrize("piece", [b"{\n", b'"\\"\\"\n', b"{" * 70_000, b'{"' + b'\\"' * 40_000])
def test_bare_json_without_an_end_is_kept_no_further_than_other_stray_lines(piece):
    events, stray = bare(b"[\n", *[piece] * 40_000 if len(piece) < 10 else [piece, b"\n"])
    assert (events, len(stray)) == ([], STRAY_LIMIT)


def test_keep_alives_are_counted_until_the_first_event_and_other_comments_are_none():
    """OpenRouter sends them while a request waits in a queue: how many there were is how long it waited."""
    decoder = SseDecoder()
    decoder.feed(b": keep-alive\n\n:keep-alive \n\n: ping\n\n:\n\n")
    assert decoder.keep_alives == 2
    decoder.feed(b"data: a\n\n: keep-alive\n\n")
    assert decoder.keep_alives == 2


def test_a_name_or_an_id_that_is_not_utf8_is_kept_as_far_as_it_is():
    assert decoded(b"event: a\xff\nid: 1\xfe\ndata: b\n\n")[0] == [SseEvent("b", "a\ufffd", "1\ufffd")]


def test_only_the_byte_order_mark_is_one_and_only_at_the_beginning():
    assert decoded(b"\xef\xbb")[1].stray == b"\xef\xbb\n"
    assert decoded(b"data: a\n\n\xef\xbb\xbfdata: b\n\n")[0] == [SseEvent("a")]
    assert decoded(b"\xef", b"\xbb", b"", b"\xbfdata: a\n\n")[0] == [SseEvent("a")]


def test_lines_without_a_field_are_kept_and_retry_is_none_of_them():
    assert decoded(b"retry: 3\nretries: 4\nnothing\n")[1].stray == b"retries: 4\nnothing\n"


def test_data_without_a_colon_counts_against_the_limit_too():
    assert decoded(b"data\n" * 25 + b"\n", limit=100)[0] == [SseEvent("\n" * 24)]
    assert decoded(b"data\n" * 26 + b"\n", limit=100)[1].overflowed


def test_after_an_event_the_next_may_be_as_large_again():
    assert len(decoded((b"data: " + b"x" * 94 + b"\n\n") * 3, limit=100)[0]) == 3


def test_bare_json_behind_an_event_that_was_not_ended_comes_after_it_with_the_last_id():
    decoder = SseDecoder(bare_json=True)
    assert decoder.feed(b'id: 7\ndata: a\n{"error": 1}\n') == [
        SseEvent("a", "", "7"),
        SseEvent('{"error": 1}\n', "", "7"),
    ]
