"""What can be held against a lane in one heat, and what its heats come to."""

import pytest

from probes.figures.buffering import CAUSE
from probes.outcome import Outcome
from probes.race.faults import LaneFault, lane_faults, lane_record
from tests.race.truths import finish
from tests.samples import sample

CAPPED = "length"


def found(**heat):
    return [one for one in lane_faults(heat) if one.lane == "A"]


def test_a_wrong_answer_speaks_against_a_lane_whatever_its_outcome_says():
    assert found(A=finish(1, expect_ok=False)) == [LaneFault("A", "wrong answer", None, counts=True)]
    assert found(A=finish(1, expect_ok=True)) == []


def test_a_buffered_answer_is_told_with_its_cause_and_costs_nobody_the_win():
    assert found(A=finish(1, buffered=True)) == [LaneFault("A", "buffered", CAUSE, counts=False)]


@pytest.mark.parametrize("spoilt", [{"trusted": False}, {"buffered": True}])
def test_doubts_of_the_times_are_not_told_of_an_answer_that_was_wrong_anyway(spoilt):
    assert [one.words for one in found(A=finish(1, expect_ok=False, **spoilt))] == ["wrong answer"]
    answer = {"tokens_per_s": 9.0, "speed_basis": "answer", "expect_ok": False}
    assert [one.words for one in found(A=finish(1, **answer), B=finish(1, speed_basis="output"))] == ["wrong answer"]


def test_the_cap_is_held_against_who_answered_only():
    """One that was cut off stopped for another reason, whatever its last event said."""
    cut = finish(1, outcome=Outcome.CUT, outcome_detail=None, finish_reason=CAPPED)
    assert [one.words for one in found(A=cut, B=finish(1))] == ["cut"]
    wrong = finish(1, outcome=Outcome.WRONG_ANSWER, expect_ok=False, finish_reason=CAPPED)
    assert [one.words for one in found(A=wrong, B=finish(1))] == ["wrong answer", "stopped at the cap"]


def test_only_a_lane_that_finished_shows_that_the_answer_had_room():
    ended = finish(1, outcome=Outcome.STREAM_ERROR, outcome_detail=None, finish_reason="stop")
    assert found(A=finish(1, finish_reason=CAPPED), B=ended) == []


def test_a_detail_is_one_line_and_not_a_page():
    told = found(A=sample(outcome=Outcome.AUTH, outcome_detail="no\n" + "x" * 500))[0].detail
    assert len(told) == 120
    assert "\n" not in told


def test_a_lane_that_never_ran_has_faults_in_no_half_of_its_heats():
    skipped = sample(outcome=Outcome.SKIPPED)
    never = lane_record("A", [skipped], [list(lane_faults({"A": skipped}))])
    assert (never.heats, never.out, never.why) == (0, False, "")


def test_all_faults_of_a_lane_are_named_the_most_frequent_first():
    heats = [{"A": finish(1, expect_ok=False)}] * 2 + [{"A": sample(outcome=Outcome.CUT)}] + [{"A": finish(1)}] * 2
    one = lane_record("A", [heat["A"] for heat in heats], [list(lane_faults(heat)) for heat in heats])
    assert (one.heats, one.finished_right, one.faulty, one.out) == (5, 2, 3, True)
    assert one.why == "wrong answer in 2 of 5 heats, cut in 1 of 5 heats"
