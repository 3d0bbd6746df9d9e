import pytest

from tests.alerts.detect.stream import MINUTE, START, Stream


def test_one_failure_is_a_suspicion_that_two_more_probes_confirm():
    stream = Stream().samples(20)
    assert stream.sample("server_error") is None
    assert stream.judge.wants_confirmation
    assert stream.sample("server_error", confirm=True) is None
    assert stream.judge.wants_confirmation
    down = stream.sample("server_error", confirm=True)
    assert (down.state, down.notify, down.failures, down.probes) == ("down", True, 3, 3)
    assert (down.since, down.samples) == (START + 20 * MINUTE, ("21", "22", "23"))
    assert not stream.judge.wants_confirmation


def test_a_blip_that_the_first_confirmation_does_not_see_is_nothing():
    stream = Stream().samples(20)
    stream.sample("timeout")
    stream.sample(confirm=True)
    assert not stream.judge.wants_confirmation
    assert stream.samples(30).states == ["ok"]


def test_without_confirmations_three_in_a_row_are_down():
    stream = Stream().samples(5).samples(2, "connect", lane=None)
    assert stream.state == "ok"
    stream.sample("connect", lane=None)
    assert stream.state == "down"


@pytest.mark.parametrize("outcome", ["auth", "not_found", "bad_request"])
def test_what_the_next_probe_is_bound_to_have_too_is_down_after_two(outcome):
    stream = Stream().samples(5)
    stream.sample(outcome)
    assert stream.state == "ok"
    assert stream.judge.wants_confirmation
    assert stream.sample(outcome, confirm=True).state == "down"


def test_no_key_is_down_only_where_a_key_was_found_before():
    stream = Stream().samples(5, "no_key", lane=None)
    assert not stream.told
    stream.sample()
    stream.samples(2, "no_key", lane=None)
    assert stream.state == "down"


@pytest.mark.parametrize(("outcome", "state", "run"), [("quota", "quota", 2), ("rate_limited", "limited", 3)])
def test_limits_are_states_of_their_own_and_never_confirmed(outcome, state, run):
    stream = Stream().samples(5)
    for _ in range(run - 1):
        assert stream.sample(outcome) is None
        assert not stream.judge.wants_confirmation
    assert stream.sample(outcome).state == state
    assert stream.samples(2).state == "ok"


def test_an_overload_that_says_when_to_come_back_is_not_confirmed():
    stream = Stream().samples(5)
    stream.sample("overloaded", waits=True)
    assert not stream.judge.wants_confirmation
    stream.samples(40).sample("overloaded")
    assert stream.judge.wants_confirmation


def test_failures_among_good_probes_are_failing_and_end_when_so_many_good_ones_are_no_chance():
    stream = Stream().samples(5)
    for _ in range(6):
        stream.sample("timeout")
        stream.samples(4)
    assert stream.state == "failing"
    assert stream.now.since == START + 5 * MINUTE
    assert stream.now.failures == 6
    before = len(stream.told)
    stream.samples(7)  # 11 in a row: at a share of 6 of 26 that is 5.5 % by chance
    assert stream.state == "failing"
    assert stream.samples(1).state == "ok"
    assert len(stream.told) == before + 1


def test_a_total_outage_is_over_after_three_good_probes():
    stream = Stream().samples(5).samples(30, "server_error").samples(2)
    assert stream.state == "down"
    stream.sample()
    assert stream.states == ["ok", "down", "ok"]


def test_answers_that_are_worth_nothing_are_silent():
    stream = Stream().samples(5).samples(3, "empty")
    assert stream.state == "silent"
    assert stream.now.outcome == "empty"


def test_while_all_fails_down_stays_down_whatever_the_failures_are():
    stream = Stream().samples(5).samples(3, "connect", lane=None)
    stream.samples(40, "cut", answered=True).samples(40, "empty")
    assert stream.state == "down"
    stream.samples(1).samples(2, "empty")
    assert stream.state == "silent"
    stream.samples(3, "connect", lane=None)
    assert stream.state == "down"
    assert stream.samples(30).state == "ok"


@pytest.mark.parametrize(("answered", "state"), [(False, "down"), (True, "silent")])
def test_connections_that_are_closed_unanswered_are_no_answers_that_end_early(answered, state):
    assert Stream().samples(5).samples(9, "cut", answered=answered).state == state


@pytest.mark.parametrize("outcome", ["own_fault", "skipped"])
def test_what_says_nothing_of_the_endpoint_reaches_no_detector(outcome):
    assert Stream().samples(5).samples(20, outcome, lane=None).states == ["ok"]


def test_confirmations_are_not_in_the_sum():
    stream = Stream().samples(5)
    for _ in range(4):  # each of three suspicions is half confirmed
        stream.sample("timeout")
        stream.sample("timeout", confirm=True)
        stream.sample(confirm=True)
        stream.samples(14)
    assert stream.states == ["ok"]


def test_rare_single_failures_are_nothing():
    stream = Stream()
    for _ in range(30):
        stream.samples(40).sample("timeout")
        stream.sample(confirm=True)
    assert stream.states == ["ok"]
