"""A record that fits a template is read as parsing it would have read it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.events import Finish, Kind, Output
from probes.wire import load_dialect
from probes.wire.chat_chunks import ChunkReader
from probes.wire.framing.record_template import RecordTemplate


def record(text, **fields):
    return json.dumps({"id": "x", **fields, "choices": [{"index": 0, "delta": {"content": text}}]}, ensure_ascii=False)


def template_of(text, kind=Kind.ANSWER, **fields):
    template = RecordTemplate()
    template.remember(record(text, **fields), [Output(kind, text)])
    return template


def test_a_record_that_differs_in_its_text_alone_is_read():
    assert template_of("Hello").match(record(" world 🚀")) == Output(Kind.ANSWER, " world 🚀")
    assert template_of("Hmm", Kind.REASONING).match(record("so")) == Output(Kind.REASONING, "so")


@pytest.mark.parametrize(
    "other",
    [
        record('a "quoted" word'), record("line\nbreak"), record("back\\slash"), record(""), record("hi", model="m"),
        record("hi")[:-1], record("hi") + " ", "{}", "",
    ],
)  # fmt: skip
def test_whatever_else_differs_must_be_parsed(other):
    assert template_of("Hello").match(other) is None


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("x", [Output(Kind.ANSWER, "x")]),  # the id has the same text
        ("content", [Output(Kind.ANSWER, "content")]),
        ("Hello", [Output(Kind.ANSWER, "Hello", tokens=3)]),
        ("Hello", [Output(Kind.ANSWER, "Hello", draft=True)]),
        ("Hello", [Output(Kind.ANSWER, "Hello"), Finish("stop")]),
        ("Hello", []),
    ],
)
def test_only_what_was_nothing_but_a_text_in_a_known_place_is_remembered(text, events):
    template = template_of("before")
    template.remember(record(text), events)
    assert template.match(record("next")) is None


def test_an_escape_hides_where_a_text_stands():
    template = RecordTemplate()
    template.remember(r'{"id": "a", "choices": [{"delta": {"content": "\u0061"}}]}', [Output(Kind.ANSWER, "a")])
    assert template.match(r'{"id": "b", "choices": [{"delta": {"content": "\u0061"}}]}') is None


texts = st.text(max_size=6) | st.sampled_from(["x", "content", "a", '"', "\\", "index", "0", "null"])
records = st.builds(
    lambda text, extra, ascii_only: json.dumps(
        {"id": "x", **extra, "choices": [{"index": 0, "delta": {"content": text, "role": "assistant"}}]},
        ensure_ascii=ascii_only,
    ),
    texts,
    st.dictionaries(st.sampled_from(["a", "model", "content", "error", "usage"]), texts, max_size=1),
    st.booleans(),
)


@given(st.lists(records, max_size=12))
def test_a_stream_reads_as_if_every_record_were_parsed(stream):
    def parsed(one):
        reader.__dict__["_template"] = RecordTemplate()  # remembers nothing
        return reader.feed(f"data: {one}\n\n".encode())

    reader = ChunkReader()
    expected = [parsed(one) for one in stream]
    reader = load_dialect("openai_chat").reader()
    assert [reader.feed(f"data: {one}\n\n".encode()) for one in stream] == expected
