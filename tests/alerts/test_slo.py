"""Service-level objectives: what is good, what sketches tell of it, the budget, and burns that fire or are refused."""

import random
import re

import pytest
from msgspec.structs import replace

from probes.alerts.slo import (
    RULES,
    Tally,
    is_good,
    left_words,
    parse_good,
    refusal,
    slo_status,
    tally_of,
    tally_of_sketches,
    with_burn,
)
from probes.alerts.state import Judgement, State
from probes.endpoint import Slo, SloLimit
from probes.outcome import Outcome
from probes.stats.sketch import Sketch

TEXT = "ttft < 800ms and tokens_per_s > 200"
SLO = Slo(TEXT, parse_good(TEXT), 0.99, 30 * 86_400.0)
AVAILABLE = Slo("ok", (), 0.99, 30 * 86_400.0)


def test_an_objective_is_read_as_it_is_written():
    assert parse_good(TEXT) == (SloLimit("ttft_ms", 800.0), SloLimit("tokens_per_s", 200.0))
    assert parse_good("ok") == ()
    assert parse_good(" ok  and e2e<=2.5s ") == (SloLimit("e2e_ms", 2500.0),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ttft", "'ttft' is not a condition: write \"ok\""),
        ("speed > 3", "'speed' cannot be limited: ttft, ttfa, e2e, gap_max, tokens_per_s can"),
        ("ttft > 800ms", "a good ttft is below its limit: write ttft < 800ms"),
        ("tokens_per_s < 3", "a good tokens_per_s is above its limit: write tokens_per_s > 3"),
        ("ttft < 800", "needs a unit: write ttft < 800ms"),
        ("ttft < soons", "'soons' is not a duration"),
        ("tokens_per_s > fast", "must be a number, not 'fast'"),
        ("ttft < 0ms", "must be above 0"),
        ("tokens_per_s > nan", "must be above 0"),
        ("ttft < 1s and ttft < 2s", "ttft is limited twice"),
        ("ttft < 1s or ok", "'1s or ok' is not a duration"),
        ("", "'' is not a condition"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(text, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_good(text)


def judged(outcome, **values):
    return is_good(SLO, outcome, values.get)


def test_a_good_probe_ended_ok_and_keeps_every_limit():
    assert judged(Outcome.OK, ttft_ms=700, tokens_per_s=300) is True
    assert judged(Outcome.OK, ttft_ms=800, tokens_per_s=300) is False
    assert judged(Outcome.OK, ttft_ms=900) is False, "broken is broken, whatever is not known"
    assert judged(Outcome.OK, ttft_ms=700) is None
    assert judged(Outcome.TIMEOUT) is False
    assert {judged(one) for one in (Outcome.RATE_LIMITED, Outcome.SKIPPED, Outcome.OWN_FAULT)} == {None}
    assert tally_of([True, None, False, True]) == Tally(2, 2, 3)


def test_sketches_tell_the_good_share_within_what_they_cannot_know():
    dice = random.Random(3)
    pairs = [(dice.lognormvariate(6.4, 0.4), dice.lognormvariate(5.6, 0.3)) for _ in range(4000)]
    sketches = {
        "ttft_ms": Sketch.of(ttft for ttft, _ in pairs),
        "tokens_per_s": Sketch.of(speed for _, speed in pairs),
    }
    exact = tally_of(is_good(SLO, Outcome.OK, {"ttft_ms": a, "tokens_per_s": b}.get) for a, b in pairs)
    told = tally_of_sketches(SLO, 4000, 50, sketches)
    assert told.whole == exact.whole + 50
    assert told.low <= exact.low <= told.high
    one = Slo("ttft < 800ms", SLO.limits[:1], 0.99, 86_400.0)
    of_one = tally_of_sketches(one, 4000, 0, sketches)
    assert of_one.low <= sum(a < 800 for a, _ in pairs) <= of_one.high
    assert of_one.high - of_one.low < 0.03 * 4000, "of one limit only the bin that it lies in is not known"
    assert tally_of_sketches(AVAILABLE, 90, 10, {}) == Tally(90, 90, 100)


def status(slo=AVAILABLE, interval=10.0, bad=(0, 0, 0, 0, 0), counts=(30, 180, 360, 2160, 25920), whole=(9900, 10_000)):
    windows = (300, 1800, 3600, 21600, 259200)
    tallies = {at: Tally(n - b, n - b, n) for at, n, b in zip(windows, counts, bad, strict=True)}
    return slo_status(
        slo, tallies, Tally(whole[0], whole[0], whole[1]), vantage="v", endpoint="e", interval=interval, at=1
    )


def test_the_budget_that_is_left_is_that_of_the_window():
    assert round(status(whole=(9950, 10_000)).left_low, 9) == 0.5
    assert round(status(whole=(9800, 10_000)).left_low, 9) == -1.0
    assert status(whole=(9, 9)).left_low is None


def test_a_burn_fires_only_where_both_windows_burn():
    assert status().firing is None
    fast = status(bad=(6, 30, 60, 60, 60))
    assert fast.firing.rate == 14.4
    assert round(fast.firing.long, 3) == 16.667
    assert status(bad=(0, 30, 60, 60, 60)).firing is None, "it is over: the shorter window is well again"
    assert status(bad=(6, 12, 12, 200, 200)).firing.rate == 6
    assert status(bad=(0, 0, 0, 30, 400)).firing.rate == 1


def test_a_burn_that_is_not_sure_does_not_fire():
    tallies = {
        at: Tally(0, n, n) for at, n in zip((300, 1800, 3600, 21600, 259200), (30, 180, 360, 2160, 99), strict=True)
    }
    found = slo_status(SLO, tallies, Tally(0, 100, 100), vantage="v", endpoint="e", interval=10.0, at=1)
    assert found.firing is None
    assert (found.left_low, found.left_high) == (1 - 1 / (1 - 0.99), 1.0)


def test_windows_that_hold_too_few_probes_are_refused_with_the_reason():
    assert [refusal(AVAILABLE, rule, 60.0) for rule in RULES] == ["5m hold 5 probes, fewer than 10", None, None]
    assert [refusal(AVAILABLE, rule, 30.0) for rule in RULES] == [None, None, None]
    assert (
        refusal(Slo("ok", (), 0.9, 86_400.0), RULES[0], 10.0)
        == "a target of 0.9 cannot burn 14.4 times as fast as it may"
    )
    assert status(interval=60.0, bad=(30,) * 5).burns[0].refused == "5m hold 5 probes, fewer than 10"
    fallen_silent = status(counts=(3, 180, 360, 2160, 25920), bad=(3, 180, 360, 400, 400))
    assert fallen_silent.burns[0].refused == "5m hold 3 probes, fewer than 10"


def test_a_burn_is_judged_where_nothing_worse_is():
    fine = Judgement(vantage="v", endpoint="e", lane="warm", state=State.OK, since=1, at=2)
    fast = status(bad=(6, 30, 60, 60, 60), whole=(9912, 10_000))
    found = with_burn(fine, fast, 7)
    assert (found.state, found.notify, found.lane, found.since) == (State.BURNING, True, "warm", 7)
    assert found.detail == "16.7 times as fast as it may over 1h and 5m (ok, 99 % of 30d), 12 % left"
    down = replace(fine, state=State.DOWN)
    assert with_burn(down, fast, 7) is down
    assert with_burn(fine, status(), 7) is fine
    assert with_burn(fine, None, 7) is fine


def test_what_is_left_is_said_as_well_as_it_is_known():
    def left(low, high):
        return left_words(replace(status(), left_low=low, left_high=high))

    assert [left(0.5, 0.5), left(-0.1, 0.2), left(-0.2, -0.2), left(-0.3, -0.1)] == [
        "50 % left", "0–20 % left", "overspent by 20 %", "overspent by 10–30 %",
    ]  # fmt: skip
    assert left_words(status(whole=(3, 4))) == "4 probes, fewer than 10"
