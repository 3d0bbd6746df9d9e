"""Verdicts on answers: reasoning that ate the cap is ok with a warning, and still no answer to what was expected."""

import pytest

from probes.events import Event, Finish, Kind, Output, StreamEnd, Usage
from probes.figures.response import ResponseAccumulator
from probes.figures.timeline import Timeline
from probes.measure.classify import classify
from probes.outcome import Outcome
from tests.samples import endpoint

CAP = "the cap was reached while reasoning: no answer"
THOUGHT = Output(Kind.REASONING, "Hm.")


def told(*events: Event) -> ResponseAccumulator:
    answer, timeline = ResponseAccumulator(), Timeline(due=0, started=0)
    for event in (*events, StreamEnd()):
        answer.add(event, 0, timeline)
    return answer


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length"])
def test_a_cap_eaten_by_reasoning_is_ok_with_a_warning(reason):
    assert classify(told(THOUGHT, Finish(reason)), endpoint()) == (Outcome.OK, CAP, None)


def test_the_count_tells_of_the_cap_where_the_finish_reason_does_not():
    asked = endpoint(max_output_tokens=16)
    assert classify(told(THOUGHT, Usage(output=16), Finish("stop")), asked).detail == CAP
    assert (
        classify(told(THOUGHT, Usage(output=15), Finish("stop")), asked).detail
        == "the reasoning ended without an answer"
    )
    assert classify(told(THOUGHT), asked).detail == "the reasoning ended without an answer"


@pytest.mark.parametrize("said", [Output(Kind.ANSWER, "Yes"), Output(Kind.TOOL, "{")])
def test_an_answer_cut_short_by_the_cap_is_one(said):
    assert classify(told(THOUGHT, said, Finish("length")), endpoint()) == (Outcome.OK, None, None)


def test_no_answer_matches_nothing_that_is_expected():
    verdict = classify(told(THOUGHT, Finish("length")), endpoint(expect="Paris"))
    assert verdict == (Outcome.WRONG_ANSWER, f"{CAP} to match /Paris/", False)


def test_without_any_output_it_is_empty():
    assert classify(told(Usage(output=16), Finish("length")), endpoint()).outcome is Outcome.EMPTY
