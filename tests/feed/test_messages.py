"""Frames: what is written is read again, and what is no message is refused whole."""

import json

import pytest

from probes.diagnosis.reachability import ReachabilityCheck
from probes.endpoint import Endpoint, Price
from probes.feed.messages import Command, EndpointFacts, EngineStatus, Frame, Hello, MonitorStatus, decode, encode
from probes.outcome import Outcome
from probes.store.status import StoreStatus
from tests.samples import endpoint, sample

FACTS = EndpointFacts.of(endpoint(keys=("SIM_API_KEY", "OTHER"), group="m", price=Price(0.15, 0.6)))
HELLO = Hello("0.1.0", 7, "sqlite:///x", simulated=True, endpoints=(FACTS,), holder="process 8")
CONTROLS = (
    ReachabilityCheck("https://h", 5, Outcome.OK, "", 1.0, 2.0, None),
    ReachabilityCheck("https://r", 6, Outcome.DNS, "?", reference=True),
)
FRAME = Frame(
    at=1_800_000_000_000,
    engine=EngineStatus(
        StoreStatus("full", "no space", 5, 6, 7, 1_800_000_000_000),
        paused=True,
        loop_lag_ms=1,
        usd_cap=2.0,
        controls=CONTROLS,
    ),
    watches=(MonitorStatus("sim/model", next_due=5, blocked_why="429"),),
    samples=(sample(ttft_ms=182, outcome_detail="a\u2028b"), sample(outcome=Outcome.CUT)),
    answers={"sim/model": "Once\nupon"},
)


@pytest.mark.parametrize("message", [HELLO, FRAME, Command("pause"), Command("probe", "sim/model")])
def test_a_message_is_one_line_and_comes_back_as_it_was(message):
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decode(line) == message


def test_facts_name_the_key_and_nothing_secret_of_an_endpoint():
    assert FACTS.key == "SIM_API_KEY"
    secret = Endpoint("n", "p", "m", "d", "http://h", headers={"authorization": "Bearer sk-planted"})
    assert b"sk-planted" not in encode(Hello("0", 1, "u", simulated=False, endpoints=(EndpointFacts.of(secret),)))


@pytest.mark.parametrize(
    ("body", "tier"),
    [
        ({"service_tier": "fast"}, "fast"),
        ({"speed": "fast", "service_tier": "auto"}, "fast"),
        ({"service_tier": 7}, None),
        ({}, None),
    ],
)
def test_facts_tell_the_tier_that_is_asked_for(body, tier):
    assert EndpointFacts.of(endpoint(body=body)).tier == tier


def test_a_store_of_a_newer_engine_is_read_as_far_as_it_is_known():
    record = json.loads(encode(FRAME))
    record["engine"]["store"] |= {"state": "on fire", "heat": 9}
    store = decode(json.dumps(record).encode()).engine.store
    assert store == StoreStatus("failed", "no space", 5, 6, 7, 1_800_000_000_000)


def test_a_store_of_an_older_engine_is_read():
    record = json.loads(encode(FRAME))
    del record["engine"]["store"]["waiting_since"]
    assert decode(json.dumps(record).encode()).engine.store == StoreStatus("full", "no space", 5, 6, 7)


def test_what_an_engine_without_controls_says_is_still_read():
    record, hello = json.loads(encode(FRAME)), json.loads(encode(HELLO))
    del record["engine"]["controls"], hello["endpoints"][0]["origin"]
    assert decode(json.dumps(record).encode()).engine.controls == ()
    assert decode(json.dumps(hello).encode()).endpoints[0].origin == ""


def changed(message, *path, to):
    record = json.loads(encode(message))
    inner = record
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return json.dumps(record).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"[1]",
        b'{"type": "frame"}',
        b'{"type": "story"}',
        b"[" * 100_000,
        changed(FRAME, "at", to="soon"),
        changed(FRAME, "engine", "loop_lag_ms", to="late"),
        changed(FRAME, "engine", "store", "stored", to=None),
        changed(FRAME, "engine", "controls", 0, "connect_ms", to="soon"),
        changed(FRAME, "engine", "controls", 0, "outcome", to="splendid"),
        changed(FRAME, "engine", "controls", to=5),
        changed(FRAME, "watches", 0, "next_due", to="soon"),
        changed(FRAME, "watches", 0, "paused", to=1),
        changed(FRAME, "samples", 0, "ttft_ms", to="soon"),
        changed(FRAME, "samples", 0, "outcome", to="splendid"),
        changed(FRAME, "samples", 0, "ttft_ms", to=float("nan")),
        changed(FRAME, "samples", 0, "ttft_ms", to=float("inf")),
        changed(FRAME, "answers", to=5),
        changed(HELLO, "endpoints", 0, "interval", to=None),
        changed(HELLO, "endpoints", 0, "price", to=0.15),
        changed(HELLO, "endpoints", 0, "price", "input", to="free"),
        changed(HELLO, "news", to=1),
    ],
)
def test_what_is_no_message_is_refused_whole(line):
    with pytest.raises(ValueError, match=r"."):
        decode(line)
