"""Verdicts on answers: reasoning that ate the cap is ok with a warning, and still no answer to what was expected."""

import pytest

from probes.events import Event, Failure, Finish, Kind, Output, StreamEnd, Usage
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


REFUSING = (
    "content_filter refusal SAFETY blocked RECITATION blocklist PROHIBITED_CONTENT SPII MODEL_ARMOR "
    "guardrail_intervened content_filtered sensitive"
)


@pytest.mark.parametrize("reason", REFUSING.split())
def test_a_finish_reason_that_is_a_refusal_is_one_with_its_words(reason):
    for words in ("", "the prompt was blocked"):
        found = classify(told(Output(Kind.ANSWER, "I"), Finish(reason, words)), endpoint())
        assert found.outcome is Outcome.REFUSED
        assert found.detail == f"the provider refused: finish reason {reason}{words and ': ' + words}"


@pytest.mark.parametrize(
    ("events", "detail"),
    [
        ([Output(Kind.REFUSAL, "I will not.")], "the provider refused: I will not."),
        ([Output(Kind.REFUSAL, " "), Finish("stop")], "the provider refused: refusal text"),
        ([Output(Kind.REFUSAL, " "), Finish("stop", "no")], "the provider refused: no"),
        (
            [Output(Kind.REFUSAL, "I will not."), Finish("refusal", "a policy")],
            "the provider refused: finish reason refusal: I will not.",
        ),
        ([Failure(Outcome.REFUSED, "a policy")], "the provider refused: a policy"),
    ],
)
def test_a_refusal_is_told_in_the_models_words_or_else_the_providers(events, detail):
    assert classify(told(*events), endpoint()) == (Outcome.REFUSED, detail, None)


def test_any_other_failure_is_itself_whatever_was_said_before():
    failed = told(Output(Kind.REFUSAL, "I will not."), Failure(Outcome.CUT, "early"))
    assert classify(failed, endpoint()) == (Outcome.CUT, "early", None)


def test_reasoning_that_only_the_count_knows_of_may_have_eaten_the_cap():
    counted = told(Usage(output=16, reasoning=16), Finish("length"))
    assert classify(counted, endpoint()) == (Outcome.OK, CAP, None)
    assert classify(told(Finish("length")), endpoint()) == (Outcome.EMPTY, "200 without output", None)
    assert classify(told(Usage(output=7), Finish("stop")), endpoint()) == (
        Outcome.EMPTY,
        "no visible output, but 7 tokens counted",
        None,
    )


def test_an_answer_that_matches_is_right_and_one_that_does_not_is_wrong():
    said = told(Output(Kind.ANSWER, "It is Paris."), Finish("stop"))
    assert classify(said, endpoint(expect="Par.s")) == (Outcome.OK, None, True)
    assert classify(said, endpoint(expect="Rome")) == (Outcome.WRONG_ANSWER, "the answer does not match /Rome/", False)
