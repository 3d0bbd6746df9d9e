import random

import pytest

from probes.alerts.detect.baseline import DAY_MS
from probes.alerts.detect.observation import Observation
from probes.alerts.detect.simple_rules import RULES, RuleAlerts
from probes.outcome import Outcome

MINUTE = 60_000
BEGIN = 1_790_000_000_000 // DAY_MS * DAY_MS
TOLD_OF = {  # what each rule says of a doubled time, of four times the time, and of an outage
    "one-probe": (True, True, True),
    "windows": (False, True, True),
    "mean-5m": (True, True, False),
    "z-score": (True, True, True),
    "three-errors": (False, False, True),
    "three-in-a-row": (False, True, True),
    "burn-rates": (False, True, True),
    "five-of-ten": (True, True, True),
    "cusum": (True, True, True),
    "median-1.5": (True, True, False),
}


def alerts(rule, times, outcome=Outcome.OK):
    """The alerts of a rule over a day and a half of which the last hour is bad."""
    dice = random.Random(1)
    watched = RuleAlerts(RULES[rule]())
    bad = BEGIN + 36 * 60 * MINUTE
    for at in range(BEGIN, bad + 60 * MINUTE, MINUTE):
        value = 100 * dice.uniform(0.9, 1.1) * (times if at >= bad else 1.0)
        fails = at >= bad and outcome is not Outcome.OK
        watched.observe(Observation(at, outcome if fails else Outcome.OK, "warm", None if fails else value))
    return [begin - bad for begin, _ in watched.alerts]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_fires_at_what_it_is_for_once_and_never_before(rule):
    found = alerts(rule, 2.0), alerts(rule, 4.0), alerts(rule, 1.0, Outcome.TIMEOUT)
    assert tuple(map(bool, found)) == TOLD_OF[rule]
    assert all(0 <= one <= 60 * MINUTE for some in found for one in some)
    assert all(len(some) <= 1 for some in found)
    assert not alerts(rule, 1.0)
