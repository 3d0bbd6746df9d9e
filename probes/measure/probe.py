"""Probe: one streamed request, made to measure; it always ends in exactly one sample."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from probes.conversation import Conversation
from probes.endpoint import Endpoint, Lane, lane_of
from probes.events import Failure, Output
from probes.figures.buffering import ANSWERS, DETAIL, is_buffered
from probes.figures.decode_speed import usual_density
from probes.figures.response import ResponseAccumulator
from probes.figures.timeline import Timeline
from probes.measure.absences import Absence
from probes.measure.build_sample import build_sample, reopened, unmeasured_sample
from probes.measure.deadline import Deadline
from probes.measure.exchange import (
    Exchange,
    answered_too_early,
    failure_of,
    is_answer,
    read_error_response,
    was_closed_while_idle,
)
from probes.measure.host_noise import HostNoise, HostNoiseMonitor, HostSnapshot
from probes.measure.own_fault import attribute_to_absences, describe_defect
from probes.measure.prompt import nonce, version
from probes.outcome import Outcome
from probes.rate_limits.headers import RateLimits, rate_limits
from probes.rate_limits.wait import asked_wait
from probes.sample import Sample
from probes.sockets.connection_timing import ConnectionTiming
from probes.sockets.errors import ExchangeError
from probes.sockets.event_loop import let_others_read
from probes.sockets.idle import IdleLimit
from probes.sockets.read_budget import ReadBudget, ReadBudgetSpent
from probes.transport.base import Gate, Response, SetupError, Transport, UpgradeRefused
from probes.transport.opening import opening_failure
from probes.wire.credentials import Credentials
from probes.wire.dialect import Dialect, WireRequest

LONG_ANSWER: Final = 16 << 10
"""Characters of an answer from which on it is searched for the key in another thread."""

KEPT: Final = 2 * ANSWERS
"""So many of an endpoint's newest samples are remembered: some may have failed, or be too short to tell anything."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one probe brought: the sample, the answer's plain text, and the marks the numbers were made of.

    ``flooded``: the server sent more than the answer's `ReadBudget`. ``wait_why`` says what the wait after a refusal is
    for, where that is more than that the provider asked for it.
    """

    sample: Sample
    text: str
    timeline: Timeline
    flooded: bool = False
    wait_why: str = ""


@dataclass(frozen=True, slots=True)
class ProbeOverrides:
    """What a race wants of a probe: this very nonce, not before the gate, and every output told with its instant.

    ``on_output`` is called off the clock with each output and when it came (monotonic ns).
    """

    nonce: str
    gate: Gate
    on_output: Callable[[Output, int], None]


class Prober:
    """Probes one endpoint, one probe at a time, over its own connection.

    With a ``second`` every other probe is a cold one, made over that, so that the connection kept for the warm ones
    stays open; the first is a warm one. Without, all are as the endpoint says, and warm where it says `both`.
    ``noise_monitor`` tells what else went on meanwhile; ``before`` are the endpoint's newest samples, oldest first.
    Close it with `close`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        dialect: Dialect,
        connection: Transport,
        second: Transport | None = None,
        *,
        vantage: str = "local",
        noise_monitor: HostNoiseMonitor | None = None,
        before: Iterable[Sample] = (),
    ) -> None:
        self.endpoint = endpoint
        self._dialect = dialect
        self._transports: dict[Lane, Transport] = {lane_of(endpoint.connection): connection}
        if second is not None:
            self._transports["cold"] = second
        self._lanes = deque(self._transports)  # the next probe's first
        self._idle_limit = IdleLimit()
        self._opening = asyncio.Lock()
        self._vantage = vantage
        self._noise_monitor = noise_monitor or HostNoiseMonitor()
        self._before = deque(before, maxlen=KEPT)

    @property
    def idle_limit_s(self) -> float:
        """How long (s) the server keeps an idle connection, as far as is known; infinite where it is not."""
        return self._idle_limit.shortest_s

    async def prepare(self, credentials: Credentials | None = None, ahead_s: float = 0.0) -> None:
        """See that a warm probe, in ``ahead_s``, has an open connection; a failure is left for the probe to meet.

        One that has died is re-opened, and so is one that the server is about to close.
        """
        if self._lanes[0] == "warm":
            try:
                async with asyncio.timeout(self.endpoint.timeouts.connect):
                    request = self._request(self.endpoint.conversation, credentials)
                    await self._open("warm", request, ReadBudget.of_idle(), ahead_s)
            except (SetupError, UpgradeRefused, TimeoutError, ReadBudgetSpent):
                self._transports["warm"].drop()

    def close(self) -> None:
        """Close what is open."""
        for transport in self._transports.values():
            transport.drop()

    async def probe(
        self, credentials: Credentials | None, due: int | None = None, overrides: ProbeOverrides | None = None
    ) -> ProbeResult:
        """Probe once, now. ``due`` is when it should have begun (monotonic ns; None: now). Never raises a failure.

        A cancelled probe ends in a sample too: `skipped`, since what it would have measured is not known. So does one
        that meets a defect of ours, anywhere: `own_fault`.
        """
        before = self._noise_monitor.begin()
        started, wall = time.monotonic_ns(), time.time_ns() // 1_000_000
        timeline = Timeline(due=started if due is None else due, started=started)
        try:
            return await self._measured(timeline, before, wall, credentials, overrides)
        except asyncio.CancelledError:
            outcome, detail = Outcome.SKIPPED, "the engine stopped during the probe"
        except Exception as error:  # one bad sample, not the end of the engine, nor no sample
            log.exception("probing %s", self.endpoint.name)
            outcome, detail = Outcome.OWN_FAULT, describe_defect(error)
        self.close()
        sample = unmeasured_sample(self.endpoint, outcome, detail, vantage=self._vantage, started_at=wall)
        return ProbeResult(replace(sample, reopened=reopened(timeline)), "", timeline)

    async def _measured(
        self,
        timeline: Timeline,
        before: HostSnapshot,
        wall: int,
        credentials: Credentials | None,
        overrides: ProbeOverrides | None,
    ) -> ProbeResult:
        lane = self._lanes[0]
        self._lanes.rotate(-1)
        transport = self._transports[lane]
        budget = ReadBudget.of_answer(self.endpoint.output_cap)
        exchange = Exchange(lane, timeline, ResponseAccumulator(), budget)
        exchange.on_output = overrides.on_output if overrides else None
        deadline = Deadline(self.endpoint.timeouts)
        try:
            async with deadline:
                await self._exchange(exchange, credentials, deadline, overrides)
            await let_others_read()
        except TimeoutError:
            exchange.out_of_time(deadline.words)
        except SetupError as error:
            exchange.answer.failure = Failure(error.outcome, error.detail)
        except ExchangeError as error:
            exchange.answer.failure = failure_of(error, exchange, transport)
        except ReadBudgetSpent as error:
            exchange.flooded = True
            exchange.answer.failure = Failure(Outcome.PROTOCOL, str(error))
        except Exception as error:  # what was measured until then stays in the sample, and what it cost
            log.exception("probing %s", self.endpoint.name)
            exchange.answer.failure = Failure(Outcome.OWN_FAULT, describe_defect(error))
        timeline.round_trip = transport.round_trip_ns(timeline.started)
        absences = self._noise_monitor.absences(timeline.started)
        if exchange.answer.failure is not None:
            exchange.answer.failure = attribute_to_absences(
                exchange.answer.failure, absences, deadline.phase_bounds, self.endpoint.timeouts.stall
            )
            if transport.opening.step != "done":
                timeline.setup = transport.opening.setup
                exchange.answer.failure = opening_failure(exchange.answer.failure, transport.opening, self.endpoint)
        unfit = exchange.answer.failure is not None or not exchange.answer.ended
        if unfit or lane == "cold" or not transport.is_open:
            transport.drop()  # at once: what may still come over it is of no use to anybody
        host_noise = self._noise_monitor.since(before)
        text = await _without(credentials, exchange.answer.text)
        return self._probed(exchange, text, wall, credentials, host_noise, absences)

    def _probed(
        self,
        exchange: Exchange,
        text: str,
        wall: int,
        credentials: Credentials | None,
        host_noise: HostNoise,
        absences: Sequence[Absence],
    ) -> ProbeResult:
        failure = exchange.answer.failure
        wait = asked_wait(failure, exchange.limits, time.time()) if failure else None
        sample = build_sample(
            self.endpoint,
            exchange.timeline,
            exchange.answer,
            vantage=self._vantage,
            started_at=wall,
            status=exchange.status,
            reused=exchange.reused,
            limits=exchange.limits,
            wait=wait,
            host_noise=host_noise,
            absences=absences,
            credentials=credentials,
            usual=usual_density(self._alike()),
        )
        if not any(one.draft for one in exchange.timeline.contents):
            sample = self._buffered(sample)
        return ProbeResult(sample, text, exchange.timeline, exchange.flooded, wait.why if wait else "")

    def _alike(self) -> Iterator[Sample]:
        """The samples before this one that the same model made of the same prompt."""
        asked = self.endpoint.model, version(self.endpoint)
        return (one for one in self._before if (one.model, one.prompt_version) == asked)

    def _buffered(self, sample: Sample) -> Sample:
        """The sample with its mark, by what the endpoint's answers before it were like."""
        found = is_buffered(sample, self._before)
        self._before.append(sample)
        if not found:
            return replace(sample, buffered=found)
        said = (DETAIL, sample.outcome_detail)
        return replace(sample, buffered=True, outcome_detail="; ".join(one for one in said if one))

    async def _exchange(
        self, exchange: Exchange, credentials: Credentials | None, deadline: Deadline, overrides: ProbeOverrides | None
    ) -> None:
        """Ask and read; once more on a fresh connection where a kept one was closed before it can have been asked."""
        transport = self._transports[exchange.lane]
        if exchange.lane == "cold":
            transport.drop()
        asked = self.endpoint.conversation.with_nonce(overrides.nonce if overrides else nonce())
        request = self._request(asked, credentials)
        await let_others_read()
        if not await self._ready(exchange, request, deadline):
            return
        before = transport.idle
        try:
            await self._ask(exchange, request, deadline, overrides)
            if overrides is not None or not exchange.outlived:
                return
            exchange.answer = ResponseAccumulator()
        except ExchangeError as error:
            if overrides is not None or before is None or not was_closed_while_idle(error, exchange, transport):
                raise
            self._idle_limit = self._idle_limit.seen(before._replace(closed=True))
        transport.drop()
        exchange.timeline.begin_again()
        exchange.status = exchange.limits = None
        if await self._ready(exchange, request, deadline):
            await self._ask(exchange, request, deadline, overrides)

    async def _ready(self, exchange: Exchange, request: WireRequest, deadline: Deadline) -> bool:
        """Whether there is an open connection; where the server refuses one, its answer is taken."""
        deadline.enter("connect")
        exchange.reused = False
        try:
            exchange.timeline.setup = await self._open(exchange.lane, request, exchange.budget)
        except UpgradeRefused as no:
            await self._take_error(exchange, no.response, deadline)
            return False
        exchange.reused = exchange.timeline.setup is None
        return True

    async def _ask(
        self, exchange: Exchange, request: WireRequest, deadline: Deadline, overrides: ProbeOverrides | None
    ) -> None:
        """Send the request and read what answers it. Raises ExchangeError and ReadBudgetSpent."""
        transport = self._transports[exchange.lane]
        deadline.enter("first token")

        async def gate() -> None:
            """Wait for the start of the race; the deadline for the first token begins anew after it."""
            if overrides is not None:
                await overrides.gate()
                deadline.enter("first token")

        try:
            reply = await transport.send(request, gate if overrides else None)
        finally:
            sent = transport.sent
            exchange.timeline.sent, exchange.timeline.sent_uncertainty_ns = (
                (sent.at, sent.uncertainty_ns) if sent else (None, None)
            )
        early = False
        if reply.head is not None:
            exchange.timeline.read(reply.head)
            exchange.timeline.headers = reply.head.at
            self._idle_limit = self._idle_limit.told(reply.headers)
            early = not exchange.timeline.answered(reply.head.at)
        exchange.status = reply.status
        exchange.limits = self._limits(reply.headers)
        if not is_answer(reply):
            await self._take_error(exchange, reply, deadline)
        elif early:
            exchange.answer.failure = answered_too_early()
        elif (coding := reply.headers.get("content-encoding", "identity").lower()) != "identity":
            exchange.answer.failure = Failure(Outcome.PROTOCOL, f"{coding} though identity was asked for")
        else:
            for event in self._dialect.response_events(reply.headers):
                exchange.answer.take(event, exchange.timeline.headers or 0, exchange.timeline)
            await exchange.read_stream(reply, self._dialect.reader(), deadline)
        if exchange.answer.failure is not None:
            exchange.limits = self._limits({**reply.headers, **exchange.answer.failure.headers})

    def _request(self, asked: Conversation, credentials: Credentials | None) -> WireRequest:
        if credentials is None:
            return self._dialect.request(self.endpoint, asked, None)
        return credentials.authorize(self._dialect.request(self.endpoint, asked, credentials.key))

    async def _take_error(self, exchange: Exchange, reply: Response, deadline: Deadline) -> None:
        """Take in a response that is an error by its head; its body is waited for only shortly, for its words."""
        exchange.status = reply.status
        exchange.answer.failure = found = await read_error_response(reply, deadline.release(), self._dialect.failure)
        exchange.limits = self._limits({**reply.headers, **found.headers})

    async def _open(
        self, lane: Lane, request: WireRequest, budget: ReadBudget, ahead_s: float = 0.0
    ) -> ConnectionTiming | None:
        """Open a connection unless one is open that will serve in ``ahead_s``; None where it will."""
        async with self._opening:  # what is still being prepared when the probe is due is waited for, not doubled
            transport = self._transports[lane]
            for _ in range(2):  # two turns of the loop: a close that has already arrived is then known
                await asyncio.sleep(0)
            is_open = transport.is_open
            if (idle := transport.idle) is not None:
                self._idle_limit = self._idle_limit.seen(idle)
                if is_open and self._idle_limit.is_near(idle.seconds + ahead_s):
                    self._idle_limit = self._idle_limit.renewed()
                    transport.drop()
            return await transport.open(request, budget)

    def _limits(self, headers: Mapping[str, str]) -> RateLimits:
        return rate_limits(headers, time.time()).over(self.endpoint.quirks.limit_windows)


async def _without(credentials: Credentials | None, text: str) -> str:
    """An answer without parts of a key; a long one is searched in a thread, for that takes tens of milliseconds."""
    if credentials is None:
        return text
    return credentials.hide(text) if len(text) <= LONG_ANSWER else await asyncio.to_thread(credentials.hide, text)
