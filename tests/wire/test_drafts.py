"""Drafts: an answer sent whole again and again (a diffusion model's) is its last draft, and deltas are never drafts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.events import Kind, Output
from probes.figures.response import TEXT_LIMIT, ResponseAccumulator
from probes.figures.timeline import Timeline
from probes.text import plain
from probes.wire.openai_chat import DIALECT
from tests.wire import streams
from tests.wire.noise import STRANGE, pieces
from tests.wire.streams import chunk, records

MARK = {"diffusion_meta": {"diffusion_content": True, "diffusion_progress": 0.5}}

some = settings(max_examples=60)
texts = st.lists(st.text("abc de\n%", min_size=1), max_size=8)


def decoded(*parts):
    """The answer that a stream in ``parts`` folds into, and its marks."""
    answer, timeline, reader = ResponseAccumulator(), Timeline(due=0, started=0), DIALECT.reader()
    for at, part in enumerate(parts):
        for event in reader.feed(part):
            answer.add(event, at, timeline)
    for event in reader.close():
        answer.add(event, len(parts), timeline)
    return answer, timeline


def test_the_answer_is_the_last_draft_and_every_draft_is_output():
    answer, timeline = decoded(streams.MERCURY_DRAFTS)
    assert (answer.text, answer.chars, answer.failure, answer.finish) == ("The quick brown fox", 19, None, "stop")
    assert [(one.chars, one.draft) for one in timeline.contents] == [(9, True), (15, True), (19, True)]


def test_blocks_without_the_mark_are_deltas_though_one_repeats_the_other():
    answer, timeline = decoded(streams.MERCURY)
    assert answer.text == "The quick brown fox The quick brown fox jumps."
    assert not any(one.draft for one in timeline.contents)


@pytest.mark.parametrize("meta", [None, {}, [], "x", {"diffusion_content": False}, {"diffusion_content": "true"}])
def test_only_true_marks_a_draft(meta):
    answer, _ = decoded(
        records(*(chunk({"content": text}, diffusion_meta=meta) for text in ("a", "ab")), chunk({}, "stop"))
    )
    assert answer.text == "aab"


def test_what_is_not_the_answer_is_never_a_draft():
    call = {"content": "I r%ad.", "tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}
    frames = [{"reasoning": "Hm"}, call, {**call, "reasoning": "m"}, {"content": "I read."}]
    answer, timeline = decoded(records(*(chunk(one, **MARK) for one in frames), chunk({}, "tool_calls")))
    assert (answer.text, answer.chars) == ("I read.", len("Hm{}{}mI read."))
    assert {one.kind for one in timeline.contents if one.draft} == {Kind.ANSWER}


@some
@given(data=st.data(), deltas=texts, rewritten=st.booleans(), other=st.dictionaries(st.just("diffusing"), STRANGE))
def test_a_stream_of_deltas_is_never_taken_for_drafts(data, deltas, rewritten, other):
    """Not even where every delta is the whole text so far: that is what a model may say."""
    if rewritten:
        deltas = ["".join(deltas[: place + 1]) for place in range(len(deltas))]
    body = records(*(chunk({"content": one}, **other) for one in deltas), chunk({}, "stop"))
    answer, timeline = decoded(*pieces(data.draw, body))
    assert (answer.text, answer.chars) == (plain("".join(deltas)), sum(map(len, deltas)))
    assert not any(one.draft for one in timeline.contents)


@some
@given(data=st.data(), frames=st.lists(st.tuples(st.text("abc de%", min_size=1), st.booleans()), max_size=8))
def test_a_draft_takes_the_place_of_all_before_it_and_a_delta_goes_on_from_there(data, frames):
    body = records(*(chunk({"content": text}, **(MARK if draft else {})) for text, draft in frames), chunk({}, "stop"))
    answer, timeline = decoded(*pieces(data.draw, body))
    expected = ""
    for text, draft in frames:
        expected = text if draft else expected + text
    assert (answer.text, answer.chars) == (plain(expected), len(expected))
    assert [(one.chars, one.draft) for one in timeline.contents] == [(len(text), draft) for text, draft in frames]


def test_a_draft_longer_than_what_is_kept_makes_room_for_the_next():
    answer, timeline = ResponseAccumulator(), Timeline(due=0, started=0)
    for text in ("x" * (TEXT_LIMIT + 5), "y" * (TEXT_LIMIT + 7)):
        answer.add(Output(Kind.ANSWER, text, draft=True), 1, timeline)
    assert answer.text == "y" * TEXT_LIMIT
    assert answer.chars == TEXT_LIMIT + 7
    answer.add(Output(Kind.ANSWER, "short", draft=True), 1, timeline)
    assert (answer.text, answer.chars) == ("short", 5)
