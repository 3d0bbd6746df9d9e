"""Controls: the newest control of every watched origin, renewed one at a time and at most once a minute each."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from probes.diagnosis.reachability import EVERY_S, ReachabilityCheck, ReachabilityPlan, control_of, way_of
from probes.endpoint import Endpoint, Timeouts
from probes.events import Failure
from probes.figures import timing
from probes.keys.secret import KeyMissing
from probes.measure.own_fault import Absence
from probes.outcome import Outcome
from probes.route import Proxy, Route, Via, via_of
from probes.sample import Sample
from probes.sockets.errors import missing_resource
from probes.sockets.read_budget import ReadBudget, ReadBudgetSpent
from probes.tls.context import TlsContexts
from probes.transport.base import SetupError
from probes.transport.connect import is_encrypted, open_stream, peer_of
from probes.transport.opening import OpeningProgress
from probes.wire.credentials import Credentials

LOOK_AGAIN_S: Final = 1.0
"""How soon it is looked again whether a control is wanted, while none is."""


async def check(
    address: str,
    tls: ssl.SSLContext | None,
    timeout: float,  # noqa: ASYNC109  # one limit for all of it
    via: Via | None = None,
) -> ReachabilityCheck | None:
    """One control of the way to an origin, within ``timeout`` seconds: a connection, given up as soon as it is open.

    Never raises a failure; None where inftop itself lacked what it takes. Not a byte is sent but those that ask a proxy
    for a tunnel, and those of the TLS handshake.
    """
    at, origin, opening = time.time_ns() // 1_000_000, way_of(address, via), OpeningProgress()
    try:
        async with asyncio.timeout(timeout):
            stream, setup = await open_stream(*peer_of(address, tls), ReadBudget.of_idle(), via, opening)
    except TimeoutError:
        late = opening.late(Failure(Outcome.TIMEOUT, f"connect: nothing within {timeout:g} s"))
        return ReachabilityCheck(origin, at, late.outcome, late.detail)
    except SetupError as error:
        return (
            None if error.outcome is Outcome.OWN_FAULT else ReachabilityCheck(origin, at, error.outcome, error.detail)
        )
    except ReadBudgetSpent as error:
        return ReachabilityCheck(origin, at, Outcome.PROTOCOL, str(error))
    except (OSError, ValueError) as error:
        return None if missing_resource(error) else ReachabilityCheck(origin, at, Outcome.CONNECT, type(error).__name__)
    stream.abort()
    return ReachabilityCheck(
        origin,
        at,
        Outcome.OK,
        dns_ms=timing.step_ms(setup.dns),
        connect_ms=timing.step_ms(setup.connect),
        tls_ms=timing.step_ms(setup.tls),
    )


class CheckTarget(NamedTuple):
    """A way to check: an address, what it goes through, whom to trust at its end, and the name of the proxy's key."""

    address: str
    via: Via | None
    tls: ssl.SSLContext | None
    proxy_key: str | None

    @classmethod
    def of(cls, address: str, route: Route, contexts: TlsContexts) -> "CheckTarget":
        """The way to an address by a route."""
        tls = contexts.of(route.tls) if is_encrypted(address) else None
        return cls(address, via_of(route, address), tls, route.proxy_key)

    @property
    def name(self) -> str:
        """The way in words, the same for all that go it."""
        return way_of(self.address, self.via)

    @property
    def ends_early(self) -> bool:
        """Whether it ends at a proxy that takes whole requests: nothing tells whether the host behind is reached."""
        return isinstance(self.via, Proxy) and self.via.forwards


FindKey = Callable[[Endpoint], Awaitable[Credentials | None]]


async def _no_credentials(_: Endpoint) -> Credentials | None:
    return None


class ReachabilityMonitor:
    """Renews controls while `run`; a probe's own connection set-up is one too and puts off the next.

    A control goes the way of the probes: through the same proxy, told the same key, which ``find_key`` finds.

    ``wanted`` says which endpoints are being watched now: nothing is checked for any other, nor the reference while
    there is none. Instants given to `next` and `hear` are seconds of any one clock; `run` takes the loop's.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        plan: ReachabilityPlan,
        contexts: TlsContexts,
        wanted: Callable[[Endpoint], bool],
        absences: Callable[[int], Sequence[Absence]] = lambda _: (),
        find_key: FindKey = _no_credentials,
    ) -> None:
        self._users: dict[str, list[Endpoint]] = {}
        self._ways: dict[str, CheckTarget] = {}
        for one in endpoints:
            way = CheckTarget.of(one.base_url, one.route, contexts)
            if not way.ends_early:
                self._users.setdefault(way.name, []).append(one)
                self._ways.setdefault(way.name, way)
        self._reference: str | None = None
        if plan.reference is not None:
            way = CheckTarget.of(plan.reference, plan.route, contexts)
            self._reference = way.name
            self._ways[way.name] = way
        self._plan = plan
        self._wanted = wanted
        self._absences = absences
        self._find_key = find_key
        self._newest: dict[str, ReachabilityCheck] = {}
        self._due: dict[str, float] = {}

    @property
    def newest(self) -> tuple[ReachabilityCheck, ...]:
        """The newest control of every origin that had one."""
        return tuple(self._newest.values())

    def begin(self, now: float) -> None:
        """Spread the first round, the reference first: the first probes set up connections of their own."""
        if self._plan.every is not None:
            origins = [*([self._reference] if self._reference else []), *self._users]
            step = self._plan.every / max(len(origins), 1)
            self._due = {one: now + number * step for number, one in enumerate(dict.fromkeys(origins), 1)}

    def hear(self, sample: Sample, endpoint: Endpoint, now: float) -> None:
        """Take a probe's connection set-up, if it had one, for a control of its origin."""
        origin = way_of(endpoint.base_url, via_of(endpoint.route, endpoint.base_url))
        if origin in self._users and (control := control_of(sample, origin)) is not None:
            self._keep(control, now)

    def next(self, now: float) -> str | None:
        """The origin whose turn it is, the most overdue first; None where nobody's is. It is put off by this."""
        turns = [(due, one) for one, due in self._due.items() if due <= now and self._is_watched(one)]
        if not turns:
            return None
        _, origin = min(turns)
        self._due[origin] = now + (self._plan.every or EVERY_S)
        return origin

    async def run(self) -> None:
        """Check one origin after another, each when its turn comes; until cancelled."""
        loop = asyncio.get_running_loop()
        self.begin(loop.time())
        while self._due:
            if (origin := self.next(loop.time())) is None:
                await asyncio.sleep(LOOK_AGAIN_S)
            else:
                began = time.monotonic_ns()
                found = await self._check(origin)
                if found is not None and (found.ok or not self._absences(began)):
                    self._keep(found, loop.time())

    async def _check(self, origin: str) -> ReachabilityCheck | None:
        """One control, with what its proxy is to be told; None where that is not to be had."""
        way = self._ways[origin]
        via = way.via
        if isinstance(via, Proxy) and way.proxy_key is not None:
            users = (one for group in self._users.values() for one in group if one.route.proxy_key == way.proxy_key)
            if (user := next(users, None)) is None:
                return None
            try:
                credentials = await self._find_key(user)
            except KeyMissing:
                return None
            via = replace(via, credentials=credentials.proxy if credentials else None)
        return await check(way.address, way.tls, self._patience(origin), via)

    def _keep(self, control: ReachabilityCheck, now: float) -> None:
        self._newest[control.origin] = replace(control, reference=control.origin == self._reference)
        if control.origin in self._due:
            self._due[control.origin] = now + (self._plan.every or EVERY_S)

    def _is_watched(self, origin: str) -> bool:
        users = self._users.values() if origin == self._reference else [self._users.get(origin, [])]
        return any(self._wanted(one) for group in users for one in group)

    def _patience(self, origin: str) -> float:
        """No control is given up sooner than a probe of its origin."""
        return max((one.timeouts.connect for one in self._users.get(origin, [])), default=Timeouts().connect)
