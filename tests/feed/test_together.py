"""What recorders that share a vantage say of themselves, added up."""

from msgspec.structs import replace

from probes.diagnosis.reachability import ReachabilityCheck
from probes.feed.messages import (
    AlertStatus,
    ConfigurationStatus,
    EndpointFacts,
    EngineStatus,
    MonitorStatus,
    RecorderStatus,
)
from probes.feed.together import together
from probes.outcome import Outcome
from probes.store.status import StoreStatus
from tests.samples import endpoint


def facts(name, model="m"):
    return EndpointFacts.of(endpoint(name=name, model=model))


def status(*names, engine=None, **fields):
    monitors = tuple(MonitorStatus(name, running=True) for name in names)
    return RecorderStatus(engine or EngineStatus(StoreStatus("ok")), monitors, **fields)


def test_one_is_as_it_is():
    one = status("a", endpoints=(facts("a"),))
    assert together([one]) is one


def test_each_endpoint_is_as_who_measures_it_says():
    newest = status("a", endpoints=(facts("a", "of newest"), facts("b", "of newest"), facts("c", "of newest")))
    older = status("b", endpoints=(facts("b", "of older"), facts("d", "of older")))
    found = together([newest, older])
    assert sorted(one.endpoint for one in found.monitors) == ["a", "b"]
    assert [(one.name, one.model) for one in found.endpoints] == [
        ("a", "of newest"),
        ("b", "of older"),
        ("c", "of newest"),
        ("d", "of older"),
    ]


def test_engines_are_as_bad_as_the_worst_and_what_waits_adds_up():
    check = ReachabilityCheck("https://a", 1, Outcome.OK)
    one = EngineStatus(StoreStatus("ok", stored=7), loop_lag_ms=1.0, usd_today=0.5, checks=(check,))
    store = StoreStatus("full", "no space", stored=5, waiting=2, dropped=1, waiting_since=9)
    two = EngineStatus(store, paused=True, loop_lag_ms=3.0, usd_today=0.4, over_budget="spent", notice="slept")
    found = together([status(engine=one), status(engine=two)]).engine
    assert (found.store.state, found.store.stored, found.store.waiting, found.store.dropped) == ("full", 7, 2, 1)
    assert (found.paused, found.loop_lag_ms, found.usd_today, found.over_budget) == (False, 3.0, 0.5, None)
    assert (found.notice, found.checks) == ("slept", (check,))
    assert together([status(engine=two)] * 2).engine.over_budget == "spent"
    newer = ReachabilityCheck("https://a", 2, Outcome.DNS)
    other = replace(two, checks=(newer,))
    assert together([status(engine=one), status(engine=other)]).engine.checks == (newer,)


def test_a_file_that_is_wrong_is_told_whoever_heads_it():
    right, wrong = ConfigurationStatus("/a", 1), ConfigurationStatus("/b", 1, problem="line 1")
    assert together([status(configuration=right), status(configuration=wrong)]).configuration == wrong
    assert together([status(configuration=right), status()]).configuration == right


def test_what_is_judged_anywhere_is_judged():
    found = together([status(alerts=AlertStatus(enabled=False)), status(alerts=AlertStatus(problem="away"))])
    assert (found.alerts.enabled, found.alerts.problem) == (True, "away")
    assert together([status(), status()]).alerts is None
