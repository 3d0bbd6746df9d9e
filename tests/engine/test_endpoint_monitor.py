"""Watches: one probe at a time, one sample per due time, and a reason for every probe that was not sent."""

import asyncio
import math
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from probes.clock import ClockReading, SteadyClock
from probes.endpoint import Endpoint
from probes.engine.endpoint_backoff import JITTER_CEILING_S
from probes.engine.endpoint_monitor import EndpointMonitor
from probes.figures.timeline import Timeline
from probes.keys.secret import KeyMissing
from probes.measure.probe import ProbeResult
from probes.outcome import Outcome
from probes.sample import Sample
from probes.wire.credentials import Credentials
from tests.samples import endpoint, sample


@dataclass
class ScriptedProber:
    """Answers probes with the samples it was given; each waits for ``go``."""

    samples: list[Sample]
    flooded: bool = False
    wait_why: str = ""
    go: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[int | None] = field(default_factory=list)
    prepared: int = 0
    closed: bool = False
    idle_limit_s: float = math.inf

    async def probe(self, key: Credentials | None, due: int | None = None) -> ProbeResult:
        self.asked.append(due)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            return ProbeResult(sample(outcome=Outcome.SKIPPED, outcome_detail="stopped"), "", Timeline(0, 0))
        return ProbeResult(self.samples.pop(0), "text", Timeline(0, 0), self.flooded, self.wait_why)

    async def prepare(self, key: Credentials | None = None, ahead_s: float = 0.0) -> None:
        self.prepared += 1

    def close(self) -> None:
        self.closed = True


class Bench:
    """A watch with everything round it scripted."""

    def __init__(self, *samples: Sample, watched: Endpoint | None = None, clock: SteadyClock | None = None) -> None:
        self.prober = ScriptedProber(list(samples))
        self.got: list[Sample] = []
        self.missing: str | None = None
        self.refusal: str | None = None
        self.changes = 0
        self.watch = EndpointMonitor(
            watched or endpoint(),
            self.prober,  # type: ignore[arg-type]
            vantage="here",
            find_key=self.find_key,
            refusal=lambda: self.refusal,
            deliver=lambda one, _: self.got.append(one),
            changed=self.changed,
            rng=random.Random(1),
            clock=clock,
        )

    async def find_key(self, _: Endpoint) -> Credentials | None:
        if self.missing is not None:
            raise KeyMissing(self.missing)
        return None

    def changed(self, _: EndpointMonitor) -> None:
        self.changes += 1

    async def settle(self) -> None:
        """Let a started probe end."""
        self.prober.go.set()
        while self.watch.status.running:
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # the callbacks of a task that is done come a turn later


async def test_a_due_time_brings_one_sample():
    bench = Bench(sample())
    bench.watch.due(time.time())
    assert bench.watch.status.running
    await bench.settle()
    assert [one.outcome for one in bench.got] == [Outcome.OK]
    assert bench.changes == 2


async def test_a_late_due_time_is_told_to_the_probe():
    bench = Bench(sample())
    before = time.monotonic_ns()
    bench.watch.due(time.time() - 2)
    await bench.settle()
    [due] = bench.prober.asked
    assert due is not None
    assert due <= before - 1.9e9


async def test_a_probe_still_running_is_never_doubled():
    bench = Bench(sample())
    bench.watch.due(time.time())
    bench.watch.due(time.time())
    bench.watch.probe_now()
    await bench.settle()
    assert len(bench.prober.asked) == 1
    assert [one.outcome for one in bench.got] == [Outcome.SKIPPED, Outcome.OK]
    assert "still running" in (bench.got[0].outcome_detail or "")


async def test_a_paused_endpoint_says_so_and_probes_on_demand():
    bench = Bench(sample())
    bench.watch.pause(True)
    bench.watch.due(time.time())
    assert [(one.outcome, one.outcome_detail) for one in bench.got] == [(Outcome.SKIPPED, "paused")]
    bench.watch.probe_now()
    await bench.settle()
    assert bench.got[-1].outcome is Outcome.OK
    assert bench.watch.status.paused


async def test_a_spent_budget_holds_even_on_demand():
    bench = Bench()
    bench.refusal = "the day's budget is spent"
    bench.watch.due(time.time())
    bench.watch.probe_now()
    assert [one.outcome for one in bench.got] == [Outcome.SKIPPED] * 2
    assert bench.prober.asked == []


async def test_a_rate_limit_is_backed_off_from_until_it_says():
    bench = Bench(sample(outcome=Outcome.RATE_LIMITED, retry_after_s=60.0), sample())
    bench.watch.due(time.time())
    await bench.settle()
    status = bench.watch.status
    assert status.blocked_until is not None
    assert abs(status.blocked_until - time.time() * 1000 - 60_000) < 5_000
    assert status.blocked_why == "rate limited"
    bench.watch.due(time.time())
    assert bench.got[-1].outcome is Outcome.SKIPPED
    assert "backing off until" in (bench.got[-1].outcome_detail or "")
    bench.watch.probe_now()
    await bench.settle()
    assert bench.watch.status.blocked_until is None


async def test_a_back_off_that_ends_another_day_names_it():
    bench = Bench(sample(outcome=Outcome.RATE_LIMITED, retry_after_s=86_400.0))
    bench.watch.due(time.time())
    await bench.settle()
    bench.watch.due(time.time())
    tomorrow = datetime.fromtimestamp((bench.watch.status.blocked_until or 0) / 1000, UTC)
    assert f"backing off until {tomorrow:%Y-%m-%d} " in (bench.got[-1].outcome_detail or "")


@pytest.mark.parametrize("step_s", [-10_800, 10_800, 100_000])
async def test_a_clock_that_is_set_neither_lengthens_nor_ends_a_back_off(step_s: int):
    wall, elapsed = 1_800_000_000 * 10**9, 0
    clock = SteadyClock(lambda: ClockReading(wall, elapsed, elapsed))
    bench = Bench(sample(outcome=Outcome.RATE_LIMITED, retry_after_s=86_400.0), sample(), clock=clock)
    bench.watch.due(clock.now())
    await bench.settle()
    until = bench.watch.status.blocked_until
    assert until is not None
    assert 1_800_086_400_000 <= until <= 1_800_086_400_000 + 1000 * JITTER_CEILING_S
    wall += step_s * 10**9
    clock.follow()
    assert bench.watch.status.blocked_until == until + step_s * 1000, "said in the new time"
    elapsed = (until - 1_800_000_000_000 - 1000) * 10**6
    bench.watch.due(clock.now())
    assert bench.got[-1].outcome is Outcome.SKIPPED
    elapsed += 2 * 10**9
    bench.watch.due(clock.now())
    await bench.settle()
    assert bench.got[-1].outcome is Outcome.OK


async def test_a_step_is_in_no_due_lag():
    wall, elapsed = 1_800_000_000 * 10**9, 0
    clock = SteadyClock(lambda: ClockReading(wall, elapsed, elapsed))
    bench = Bench(sample(), clock=clock)
    due = clock.now()
    wall += 10_800 * 10**9  # and nobody has looked since
    before = time.monotonic_ns()
    bench.watch.due(due)
    await bench.settle()
    assert bench.prober.asked[0] is not None
    assert bench.prober.asked[0] >= before


async def test_who_floods_us_is_left_alone_as_failing_until_a_good_sample():
    bench = Bench(sample(outcome=Outcome.PROTOCOL), sample(outcome=Outcome.PROTOCOL), sample())
    assert bench.watch.endpoint.interval == 60
    waited = []
    bench.prober.flooded = True
    for _ in range(2):
        bench.watch.probe_now()
        await bench.settle()
        status = bench.watch.status
        assert status.blocked_until is not None
        assert (status.failing, status.blocked_why) == (True, "protocol")
        waited.append(status.blocked_until / 1000 - time.time())
    assert waited == pytest.approx([90, 210], abs=20)
    bench.watch.due(time.time())
    assert bench.got[-1].outcome is Outcome.SKIPPED
    assert "protocol: backing off until" in (bench.got[-1].outcome_detail or "")
    bench.prober.flooded = False
    bench.watch.probe_now()
    await bench.settle()
    assert bench.watch.status.blocked_until is None
    assert not bench.watch.status.failing


async def test_no_key_is_said_once_and_looked_for_again():
    bench = Bench(sample(), watched=endpoint(keys=("SIM_API_KEY",)))
    bench.missing = "no key: set SIM_API_KEY, or: inftop keys set SIM_API_KEY"
    for _ in range(3):
        bench.watch.due(time.time())
        await bench.settle()
    assert [one.outcome for one in bench.got] == [Outcome.NO_KEY]
    assert "SIM_API_KEY" in (bench.got[0].outcome_detail or "")
    assert bench.watch.status.no_key
    bench.missing = "no key for the header X-Other: set OTHER, or: inftop keys set OTHER"
    for _ in range(2):
        bench.watch.due(time.time())
        await bench.settle()
    assert [one.outcome_detail for one in bench.got[1:]] == [bench.missing], "what is lacking now is another key"
    bench.missing = None
    bench.watch.due(time.time())
    await bench.settle()
    assert bench.got[-1].outcome is Outcome.OK
    assert not bench.watch.status.no_key


async def test_preparing_needs_something_to_prepare_for():
    bench = Bench()
    await bench.watch.prepare()
    assert bench.prober.prepared == 1
    bench.watch.pause(True)
    await bench.watch.prepare()
    assert bench.prober.prepared == 1


def test_a_connection_is_looked_after_shortly_before_it_is_needed():
    bench = Bench(watched=endpoint(interval=60.0))
    assert bench.watch.ahead_s == 2.0
    assert Bench(watched=endpoint(interval=4.0)).watch.ahead_s == 1.0
    bench.prober.idle_limit_s = 1.0
    assert bench.watch.ahead_s == 0.5


async def test_stopping_ends_a_running_probe_in_a_sample():
    bench = Bench()
    bench.watch.due(time.time())
    await asyncio.sleep(0)
    await bench.watch.stop(grace=0)
    assert [one.outcome for one in bench.got] == [Outcome.SKIPPED]
    assert bench.prober.closed


async def test_what_ends_a_wait_is_said_with_the_reason():
    refused = sample(outcome=Outcome.QUOTA, retry_after_s=9_000.0)
    bench = Bench(refused)
    bench.prober.wait_why = "the day's quota, until 00:00 Pacific time"
    bench.watch.due(time.time())
    await bench.settle()
    status = bench.watch.status
    assert status.blocked_why == "quota: the day's quota, until 00:00 Pacific time"
    assert not status.failing
    bench.watch.due(time.time())
    assert (bench.got[-1].outcome_detail or "").startswith(
        "quota: the day's quota, until 00:00 Pacific time: backing off"
    )


async def test_an_overloaded_server_that_asks_for_time_is_failing_while_it_is_left_alone():
    bench = Bench(sample(outcome=Outcome.OVERLOADED, retry_after_s=120.0))
    bench.watch.due(time.time())
    await bench.settle()
    assert (bench.watch.status.failing, bench.watch.status.blocked_why) == (True, "overloaded")
