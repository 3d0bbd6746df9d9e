"""Exchange: one request and its response while they happen."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

from probes.endpoint import Lane
from probes.events import Event, Failure, Output, Queued
from probes.figures.response import ResponseAccumulator
from probes.figures.timeline import Timeline
from probes.measure.deadline import Deadline
from probes.outcome import Outcome
from probes.rate_limits.headers import RateLimits
from probes.sockets.connection_timing import Stamp
from probes.sockets.errors import ExchangeError
from probes.sockets.idle import was_idle_close
from probes.sockets.read_budget import ReadBudget
from probes.tls.errors import BEHIND_HANDSHAKE, USE_HTTPS, wants_tls
from probes.transport.base import Response, Transport
from probes.wire.dialect import StreamReader
from probes.wire.errors.bot_wall import is_walled
from probes.wire.errors.error_words import CONNECTION_LIMIT

ERROR_BODY_LIMIT: Final = 64 << 10
"""Bytes of an error response that are looked at."""

ERROR_BODY_S: Final = 1.5
"""How long the body of an error response is waited for: the status and the headers have already said what it is."""

GOODBYE_S: Final = 0.5
"""After the terminal marker, how long the rest of the body may take before a kept connection is let go."""


@dataclass(slots=True)
class Exchange:
    """One request and its response while they happen; ``reused``: on a connection that was open before.

    What decoding the response takes counts against ``budget``.
    """

    lane: Lane
    timeline: Timeline
    answer: ResponseAccumulator
    budget: ReadBudget
    on_output: Callable[[Output, int], None] | None = None
    reused: bool = False
    status: int | None = None
    limits: RateLimits | None = None
    flooded: bool = False

    @property
    def outlived(self) -> bool:
        """Whether a kept socket was too old for the server, which said so in place of any answer."""
        failure = self.answer.failure
        return self.reused and failure is not None and CONNECTION_LIMIT in failure.said and not self.timeline.contents

    def take(self, events: Iterable[Event], stamp: Stamp, *, whole: bool) -> bool:
        """Take in what one read completed; whether there was output in it, that is progress.

        ``whole``: the read ended with the last of the events, and not with the beginning of another.
        """
        timeline, answer, held = self.timeline, self.answer, list(events)
        self.budget.spend(len(held))
        timeline.read(stamp)
        progress, left = False, len(held)
        for event in held:
            left -= 1
            if timeline.first_event is None and not isinstance(event, Queued):
                timeline.first_event = stamp.at
                if not (timeline.answered(stamp.at) or isinstance(event, Failure)):
                    answer.failure = answered_too_early()
            uncertainty_ns = stamp.uncertainty_ns if left or not whole else stamp.end_uncertainty_ns
            if (output := answer.take(event, stamp.at, timeline, uncertainty_ns)) is not None:
                progress = True
                if self.on_output is not None:
                    self.on_output(output, stamp.at)
        return progress

    async def read_stream(self, reply: Response, reader: StreamReader, deadline: Deadline) -> None:
        """Read a 2xx's body to its terminal marker, or to its end. Raises ExchangeError and ReadBudgetSpent.

        A complete answer need not have either: the deadline is then the grace that its end is given.
        """
        answer, empty = self.answer, True

        def take(stamp: Stamp, data: bytes) -> bool:
            nonlocal empty
            empty = empty and not data.strip()
            was = answer.complete, answer.usage
            self.budget.spend(max(data.count(b"\n"), data.count(b"\r")))  # lines, however they end
            progress = self.take(reader.feed(data), stamp, whole=data.endswith((b"\n", b"\r")))
            if answer.complete and (progress or was != (answer.complete, answer.usage)):
                deadline.enter("end")
            elif progress:
                deadline.enter("stall")
            return not answer.is_over

        await reply.body.read_while(take)
        if empty and not answer.is_over:
            answer.failure = Failure(Outcome.EMPTY, f"HTTP {reply.status} with an empty body")
        elif not answer.is_over:
            end = Stamp(time.monotonic_ns(), kernel=bool(self.timeline.kernel))  # nothing was read
            self.take(reader.close(), end, whole=True)
        if answer.ended:
            # the terminal chunk follows the marker; reading it is what lets a warm connection be kept
            with contextlib.suppress(TimeoutError, ExchangeError):
                async with asyncio.timeout(GOODBYE_S):
                    if not reply.body.complete:
                        await reply.body.read_while(lambda *_: True)

    def out_of_time(self, words: str) -> None:
        """Take note that the deadline has passed, in these ``words``: a failure, unless the answer was complete."""
        if self.answer.complete and not self.answer.ended:
            self.answer.note = "the response stayed open after the finish reason"
        elif not self.answer.ended:
            self.answer.failure = Failure(Outcome.TIMEOUT, words)


def was_closed_while_idle(error: ExchangeError, exchange: Exchange, transport: Transport) -> bool:
    """Whether a kept connection broke because the server had closed it before it can have known of the request."""
    after, trip = transport.closed_unanswered_ns, transport.round_trip_ns(exchange.timeline.started)
    return exchange.reused and error.outcome is Outcome.CUT and after is not None and was_idle_close(after, trip or 0)


def failure_of(error: ExchangeError, exchange: Exchange, transport: Transport) -> Failure:
    """What an exchange was broken by."""
    if was_closed_while_idle(error, exchange, transport):
        return Failure(Outcome.CUT, "the server closed the kept connection as the request went out")
    if _closed_behind_handshake(error, exchange, transport):
        return Failure(Outcome.CUT, f"{error.detail}, {BEHIND_HANDSHAKE}")
    return Failure(error.outcome, error.detail, error.retry_after_s)


def _closed_behind_handshake(error: ExchangeError, exchange: Exchange, transport: Transport) -> bool:
    """Whether a new TLS connection ended before the server can have answered anything that was sent over it.

    With TLS 1.3 a server judges the client's certificate when the client has long begun to send (RFC 8446 §4.6); some
    (asyncio's, and so uvicorn and vLLM) then close without an alert.
    """
    after, trip, setup = (
        transport.closed_unanswered_ns,
        transport.round_trip_ns(exchange.timeline.started),
        exchange.timeline.setup,
    )
    fresh = not exchange.reused and setup is not None and setup.tls is not None
    return fresh and error.outcome is Outcome.CUT and after is not None and was_idle_close(after, trip or 0)


def answered_too_early() -> Failure:
    """That what should answer the request came before it was sent."""
    return Failure(Outcome.PROTOCOL, "an answer before the request")


def is_answer(reply: Response) -> bool:
    """Whether a reply is a stream of an answer by its head: any 2xx is, but that of a guard before the API."""
    if reply.status == HTTPStatus.SWITCHING_PROTOCOLS:
        return True
    return reply.status // 100 == 2 and not is_walled(reply.headers)


async def read_error_response(
    reply: Response, left_s: float, meaning: Callable[[int, Mapping[str, str], bytes], Failure]
) -> Failure:
    """What an error response means, by its head and as much of its body as comes soon. Raises ReadBudgetSpent."""
    body, missing = await read_error_body(reply, left_s)
    if wants_tls(reply.status, body):
        return Failure(Outcome.PROTOCOL, USE_HTTPS)
    found = meaning(reply.status, reply.headers, body)
    return replace(found, detail=f"{found.detail}; {missing}") if missing else found


async def read_error_body(reply: Response, grace_s: float) -> tuple[bytes, str]:
    """What came of an error response's body within so many seconds, and in words why that is not all of it, or "".

    At most `ERROR_BODY_LIMIT` bytes are read. Raises ReadBudgetSpent.
    """
    body, grace_s, missing = bytearray(), min(grace_s, ERROR_BODY_S), ""

    def take(_: Stamp, data: bytes) -> bool:
        body.extend(data)
        return len(body) < ERROR_BODY_LIMIT

    try:
        async with asyncio.timeout(grace_s):
            await reply.body.read_while(take)
    except TimeoutError:
        missing = f"the body had not ended after {grace_s:.2g} s"
    except ExchangeError as error:
        missing = f"the body did not come whole: {error.detail}"
    return bytes(body[:ERROR_BODY_LIMIT]), missing
