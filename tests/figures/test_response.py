"""What the events of one response have said so far: the newest counts, each kind of text, nothing after an end."""

import pytest

from probes.events import (
    Event,
    Failure,
    Finish,
    HiddenReasoning,
    Kind,
    Output,
    Queued,
    ServedBy,
    ServerTimes,
    StreamEnd,
    Usage,
)
from probes.figures.response import REFUSAL_LIMIT, TEXT_LIMIT, ResponseAccumulator
from probes.figures.timeline import ContentEvent, Timeline
from probes.figures.token_bounds import SAMPLED_CHARS
from probes.outcome import Outcome


def told(*events: Event) -> tuple[ResponseAccumulator, Timeline]:
    """The events come 1 ns apart."""
    found, timeline = ResponseAccumulator(), Timeline(due=0, started=0)
    for at, event in enumerate(events, start=1):
        found.add(event, at, timeline)
    return found, timeline


def test_output_is_progress_and_goes_on_the_timeline_with_what_it_carried():
    found, timeline = ResponseAccumulator(), Timeline(due=0, started=0)
    said = Output(Kind.REASONING, "Hmm", tokens=3, raw=False)
    assert found.add(said, 7, timeline, 2) == said
    assert found.add(Usage(output=1), 8, timeline) is None
    assert timeline.contents == [ContentEvent(7, Kind.REASONING, 3, 3, False, 2, False)]


def test_of_a_field_that_came_again_the_newest_value_stands_and_the_others_stay():
    found, _ = told(
        Usage(input=5, output=1),
        Usage(output=9),
        ServerTimes(queue_ms=1.0),
        ServerTimes(prefill_ms=2.0),
        ServedBy(model="a", request_id="header's"),
        ServedBy(model="b", request_id="body's"),
    )
    assert found.usage == Usage(input=5, output=9)
    assert found.times == ServerTimes(queue_ms=1.0, prefill_ms=2.0)
    assert found.served == ServedBy(model="b", request_id="header's")


def test_an_answer_is_complete_until_more_of_it_comes():
    found, _ = told(Output(Kind.ANSWER, "a"), Finish("stop", "why"))
    assert (found.complete, found.finish, found.finish_words) == (True, "stop", "why")
    found.add(Output(Kind.ANSWER, "b"), 9, Timeline(due=0, started=0))
    assert not found.complete
    assert found.text == "ab"


@pytest.mark.parametrize("end", [StreamEnd("no marker"), Failure(Outcome.CUT, "early")])
def test_nothing_counts_after_the_end(end):
    found, timeline = told(Queued(), Queued(), end, Output(Kind.ANSWER, "late"), Usage(output=1), Queued())
    assert found.is_over
    assert (found.text, found.usage, found.keep_alives, timeline.contents) == ("", None, 2, [])
    assert (found.ended, found.note, timeline.end) == (
        (True, "no marker", 3) if isinstance(end, StreamEnd) else (False, "", None)
    )


def test_a_sign_of_hidden_reasoning_is_remembered_by_its_place():
    found, _ = told(HiddenReasoning(), Output(Kind.ANSWER, "a"), Output(Kind.ANSWER, "b"), HiddenReasoning())
    assert found.hidden_reasoning == [0, 2]


def test_every_kind_of_text_is_counted_and_only_the_answer_is_the_text():
    found, _ = told(
        Output(Kind.REASONING, "Hmm"),
        Output(Kind.ANSWER, "It is."),
        Output(Kind.TOOL, "{}"),
        Output(Kind.REFUSAL, "No."),
        Output(Kind.REFUSAL, " Never."),
    )
    assert (found.text, found.refusal) == ("It is.", "No. Never.")
    assert (found.chars, found.reasoning_chars) == (21, 3)
    assert found.kinds == set(Kind) - (set(Kind) - {Kind.REASONING, Kind.ANSWER, Kind.TOOL, Kind.REFUSAL})
    assert found.samples == {Kind.REASONING: "Hmm", Kind.ANSWER: "It is.", Kind.TOOL: "{}", Kind.REFUSAL: "No. Never."}


def test_of_a_long_text_the_beginning_is_kept_and_all_of_it_counted():
    """A model may write without end; a probe's memory must not grow with it."""
    found, _ = told(
        Output(Kind.ANSWER, "a" * (TEXT_LIMIT - 1)),
        Output(Kind.ANSWER, "bc"),
        Output(Kind.ANSWER, "d"),
        Output(Kind.REFUSAL, "r" * (REFUSAL_LIMIT - 1)),
        Output(Kind.REFUSAL, "st"),
    )
    assert (len(found.text), found.text[-2:]) == (TEXT_LIMIT, "ab")
    assert (len(found.refusal), found.refusal[-2:]) == (REFUSAL_LIMIT, "rs")
    assert found.chars == TEXT_LIMIT + 2 + REFUSAL_LIMIT + 1
    assert (TEXT_LIMIT, REFUSAL_LIMIT) == (262_144, 2_000)


def test_a_sample_of_each_kind_is_its_first_characters():
    found, _ = told(Output(Kind.ANSWER, "a" * (SAMPLED_CHARS - 1)), Output(Kind.ANSWER, "bc"), Output(Kind.ANSWER, "d"))
    assert found.samples[Kind.ANSWER] == "a" * (SAMPLED_CHARS - 1) + "b"


def test_a_draft_takes_the_place_of_the_one_before_and_leaves_the_reasoning():
    found, timeline = told(
        Output(Kind.REASONING, "Hmm"),
        Output(Kind.ANSWER, "w%rd", draft=True),
        Output(Kind.ANSWER, "word one", draft=True),
    )
    assert (found.text, found.chars) == ("word one", 11)
    assert [one.draft for one in timeline.contents] == [False, True, True]


def test_a_thought_between_tags_is_reasoning_though_it_came_as_answer():
    found, timeline = told(
        Output(Kind.ANSWER, "<think>"), Output(Kind.ANSWER, "Hmm"), Output(Kind.ANSWER, "</think>So.")
    )
    assert (found.text, found.kinds) == ("So.", {Kind.REASONING, Kind.ANSWER})
    assert [one.kind for one in timeline.contents][1:] == [Kind.REASONING, Kind.ANSWER]
    assert found.reasoning_chars + len(found.text) == found.chars


def test_what_stood_before_the_end_of_a_thought_was_all_of_it_thought():
    """Some servers leave the opening tag out: what passed for the answer until then is reasoning."""
    found, timeline = told(
        Output(Kind.ANSWER, "Let me "),
        Output(Kind.ANSWER, "think."),
        Output(Kind.ANSWER, "</think>"),
        Output(Kind.ANSWER, "So."),
    )
    assert (found.text, found.kinds) == ("So.", {Kind.REASONING, Kind.ANSWER})
    assert [one.kind for one in timeline.contents] == [Kind.REASONING] * 3 + [Kind.ANSWER]
    assert found.samples[Kind.ANSWER] == "So."
    assert found.samples[Kind.REASONING].startswith("Let me think.")
    assert found.reasoning_chars == found.chars - 3
