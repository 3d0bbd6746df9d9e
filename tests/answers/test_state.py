"""The state of an endpoint now: what was judged while it is of now, and what its samples say where nobody judges."""

import pytest

from probes.answers.now import SampleNow
from probes.answers.state import Facts, Judged, StateNow, state_now, tally

NOW = 1_800_000_000_000
MINUTE = 60_000
FACTS = Facts("sim", "model", "openai_chat", "model", 60.0)


def values(*outcomes, trusted=True, buffered=False):
    return [
        SampleNow(NOW - (len(outcomes) - 1 - number) * MINUTE, one, 1.0, 1.0, 1.0, None, trusted, buffered)
        for number, one in enumerate(outcomes)
    ]


def state(facts=FACTS, judged=None, some=None, last_at=NOW, now=NOW):
    lanes = judged if isinstance(judged, list) else [] if judged is None else [judged]
    return state_now(facts, lanes, values("ok") if some is None else some, last_at, now)


def judged(state, at=NOW, **fields):
    return Judged(state, NOW - MINUTE, at, **fields)


@pytest.mark.parametrize("interval_s", [1.0, 60.0, 600.0, None])
def test_stale_after_three_intervals_and_never_before_three_minutes(interval_s):
    facts = FACTS._replace(interval_s=interval_s)
    limit = round(max(180, 3 * (interval_s or 0)) * 1000)
    assert state(facts, now=NOW + limit).state == "ok"
    assert state(facts, now=NOW + limit + 1).state == "stale"


def test_a_stale_one_says_for_how_long_and_what_blocks_it():
    facts = FACTS._replace(blocked_why="the day's budget is used up")
    assert state(facts, now=NOW + 15 * MINUTE) == ("stale", NOW, "no sample for 15 m (the day's budget is used up)")


def test_a_judgement_that_was_left_behind_is_not_of_now():
    down = judged("down", at=NOW - 3_600_000, failures=5, probes=5)
    assert state(judged=down).state == "ok"
    assert state(judged=down._replace(at=NOW)).state == "down"


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (judged("slow", metric="ttft_ms", ratio=2.26), "TTFT 2.3 times slower than usual"),
        (judged("slow", metric="tokens_per_s", ratio=2.0), "decode speed 2.0 times slower than usual"),
        (judged("failing", failures=2, probes=5, outcome="server_error"), "2 of 5 probes failed: server_error"),
        (judged("silent", outcome="wrong_answer"), "wrong answer"),
        (judged("limited", detail="tokens per day"), "tokens per day"),
        (judged("ok"), ""),
    ],
)
def test_why_in_a_few_words(one, why):
    assert state(judged=one) == StateNow(one.state, NOW - MINUTE, why)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (["ok"], "ok"),
        (["ok", "timeout"], "ok"),
        (["ok", "timeout", "timeout"], "failing"),
        (["ok", "timeout", "cut", "timeout"], "down"),
        (["timeout", "timeout", "timeout", "ok"], "ok"),
        (["timeout", "timeout", "skipped"], "failing"),
        (["ok", "rate_limited"], "limited"),
        (["ok", "quota"], "quota"),
        (["skipped"], "ok"),
    ],
)
def test_where_nobody_judges_the_newest_samples_decide(outcomes, expected):
    assert state(some=values(*outcomes)).state == expected


def test_without_a_recorder_samples_are_of_now_while_there_are_any():
    assert state(None, now=NOW + 40 * MINUTE).state == "ok"
    assert state(None, some=[], now=NOW + 40 * MINUTE).state == "stale"


def test_what_measures_nothing_says_so_even_where_it_was_judged_well():
    mixed = [*values("ok", "ok", trusted=False), *values("ok")]
    assert state(judged=judged("ok"), some=mixed)[::2] == ("untrusted", "2 of 3 timings are not trusted")
    held = values("ok", "ok", buffered=True)
    assert state(judged=judged("ok"), some=held)[::2] == ("silent", "2 of 2 answers were held back on the way")
    assert state(judged=judged("down"), some=mixed).state == "down"


def test_the_error_rate_leaves_out_what_says_nothing_of_the_endpoint():
    assert tally(values("ok", "timeout", "rate_limited", "skipped", "own_fault", "quota")) == (2, 3)


def test_a_key_that_went_missing_speaks_before_the_age_of_what_was_sent():
    some = values("ok", "no_key")
    assert state(some=some, last_at=NOW - MINUTE) == ("no key", NOW, "its key is not found")
    assert state(some=some[1:], last_at=None).state == "no key"
    assert state(some=some[1:], last_at=NOW + MINUTE).state == "ok"  # answered since, on another lane


def test_a_lane_that_serves_nobody_speaks_for_the_endpoint():
    cold = judged("down", lane="cold", failures=3, probes=3, outcome="tls")
    assert state(judged=[judged("ok", lane="warm"), cold]) == (
        "down",
        NOW - MINUTE,
        "cold connections: 3 of 3 probes failed: tls",
    )
    assert state(judged=[judged("ok", lane="warm"), cold._replace(at=NOW - 3_600_000)]).state == "ok"
    assert state(judged=[judged("ok", lane="warm"), judged("slow", lane="cold")]).state == "ok"


def test_samples_that_no_judge_has_seen_yet():
    some = values("ok", "timeout", "timeout", "timeout")
    assert state(judged=judged("ok", at=NOW - 3 * MINUTE), some=some).state == "down"
    assert state(judged=judged("ok", at=NOW - 2 * MINUTE), some=some).state == "ok"  # two may be luck
    assert state(judged=judged("ok"), some=some).state == "ok"
