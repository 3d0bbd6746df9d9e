"""What holds of a gate's verdicts whatever the samples are."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.gate.rule import decide
from probes.gate.verdict import GateEvidence, GateRequest
from probes.outcome import FAILED, Outcome
from tests.gate.rounds import probe

pytestmark = pytest.mark.slow

few = settings(max_examples=25)

ORDER = {"pass": 0, "inconclusive": 1, "fail": 2}
ENDED = "no more are run"

probes = st.builds(
    lambda ttft, speed, outcome: probe(ttft if outcome is Outcome.OK else None, outcome, tokens_per_s=speed),
    st.floats(50, 5_000),
    st.floats(5, 500),
    st.sampled_from([Outcome.OK] * 12 + sorted(FAILED)[:2] + [Outcome.OWN_FAULT]),
)
rounds = st.lists(st.fixed_dictionaries({"a": probes, "b": probes, "base": probes}), min_size=10, max_size=40)


def scaled(every, ratio):
    """The same rounds, with the times of "a" multiplied and its speeds divided."""

    def other(one):
        if one.ttft_ms is None:
            return one
        return probe(one.ttft_ms * ratio, one.outcome, tokens_per_s=one.tokens_per_s / ratio)

    return [{**row, "a": other(row["a"])} for row in every]


def verdict(request, every):
    return decide(request, GateEvidence(every, ended=ENDED))


@few
@given(rounds)
def test_a_gate_that_is_ended_always_has_a_verdict_with_words(every):
    for request in (GateRequest(new=("a", "b"), against="base"), GateRequest(new=("a",), against="b")):
        found = verdict(request, every)
        assert found.verdict in ORDER
        assert found.why
        assert len(found.findings) == 3 * len(request.new)
        for one in found.findings:
            assert one.words
            if one.estimate is not None:
                assert one.low is None or one.low <= one.estimate + 1e-9
                assert one.high is None or one.high >= one.estimate - 1e-9


@few
@given(rounds)
def test_the_order_of_endpoints_and_of_metrics_does_not_matter(every):
    request = GateRequest(new=("a", "b"), against="base")
    turned = replace(request, new=("b", "a"), metrics=request.metrics[::-1])
    one, other = verdict(request, every), verdict(turned, every)
    assert one.verdict == other.verdict
    assert set(one.findings) == set(other.findings)


@few
@given(rounds, st.floats(0.05, 0.5), st.floats(1.1, 4))
def test_a_wider_margin_is_never_harder_and_a_slower_endpoint_never_better(every, margin, more):
    request = GateRequest(new=("a",), against="base", metrics=("ttft", "tokens_per_s"), margin=margin)
    found = ORDER[verdict(request, every).verdict]
    assert ORDER[verdict(replace(request, margin=margin * more), every).verdict] <= found
    assert ORDER[verdict(request, scaled(every, more)).verdict] >= found


@few
@given(rounds)
def test_two_endpoints_are_compared_alike_from_either_side(every):
    there = verdict(GateRequest(new=("a",), against="b", metrics=("ttft",)), every).findings[0]
    back = verdict(GateRequest(new=("b",), against="a", metrics=("ttft",)), every).findings[0]
    assert there.n == back.n
    if there.estimate is not None and back.estimate is not None:
        assert there.estimate * back.estimate == pytest.approx(1)
    assert not there.decision == back.decision == "fail"


@few
@given(rounds, st.sampled_from([Outcome.RATE_LIMITED, Outcome.QUOTA]))
def test_a_storm_of_limits_never_passes_nor_fails(every, limit):
    storm = [{**row, "a": probe(outcome=limit)} if at % 3 == 0 else row for at, row in enumerate(every)]
    assert verdict(GateRequest(new=("a",), against="base"), storm).verdict == "inconclusive"
