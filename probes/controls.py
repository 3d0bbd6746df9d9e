"""Controls: the newest control of every watched origin, renewed one at a time and at most once a minute each."""

import asyncio
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from probes import timing
from probes.absences import Absence
from probes.control import EVERY_S, Control, ControlPlan, control_of, origin_of
from probes.endpoint import Endpoint, Timeouts
from probes.network import open_stream
from probes.outcome import Outcome
from probes.own_fault import lacking
from probes.peer import peer_of
from probes.read_budget import ReadBudget, ReadBudgetSpent
from probes.sample import Sample
from probes.transport import SetupError

LOOK_AGAIN_S: Final = 1.0
"""How soon it is looked again whether a control is wanted, while none is."""


async def check(origin: str, tls: ssl.SSLContext | None, timeout: float) -> Control | None:  # noqa: ASYNC109  # one limit for all of it
    """One control of an origin, within ``timeout`` seconds: a connection, given up as soon as it is open.

    Never raises a failure; None where inftop itself lacked what it takes. Not a byte is sent but those of the TLS
    handshake.
    """
    at = time.time_ns() // 1_000_000
    try:
        async with asyncio.timeout(timeout):
            stream, setup = await open_stream(*peer_of(origin, tls), ReadBudget.of_idle())
    except TimeoutError:
        return Control(origin, at, Outcome.TIMEOUT, f"connect: nothing within {timeout:g} s")
    except SetupError as error:
        return None if error.outcome is Outcome.OWN_FAULT else Control(origin, at, error.outcome, error.detail)
    except ReadBudgetSpent as error:
        return Control(origin, at, Outcome.PROTOCOL, str(error))
    except (OSError, ValueError) as error:
        return None if lacking(error) else Control(origin, at, Outcome.CONNECT, type(error).__name__)
    stream.abort()
    return Control(
        origin,
        at,
        Outcome.OK,
        dns_ms=timing.step_ms(setup.dns),
        connect_ms=timing.step_ms(setup.connect),
        tls_ms=timing.step_ms(setup.tls),
    )


class Controls:
    """Renews controls while `run`; a probe's own connection set-up is one too and puts off the next.

    ``wanted`` says which endpoints are being watched now: nothing is checked for any other, nor the reference while
    there is none. Instants given to `next` and `hear` are seconds of any one clock; `run` takes the loop's.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        plan: ControlPlan,
        tls: ssl.SSLContext | None,
        wanted: Callable[[Endpoint], bool],
        absences: Callable[[int], Sequence[Absence]] = lambda _: (),
    ) -> None:
        self._users: dict[str, list[Endpoint]] = {}
        for one in endpoints:
            self._users.setdefault(origin_of(one.base_url), []).append(one)
        self._plan = plan
        self._tls = tls
        self._wanted = wanted
        self._absences = absences
        self._newest: dict[str, Control] = {}
        self._due: dict[str, float] = {}

    @property
    def newest(self) -> tuple[Control, ...]:
        """The newest control of every origin that had one."""
        return tuple(self._newest.values())

    def begin(self, now: float) -> None:
        """Spread the first round, the reference first: the first probes set up connections of their own."""
        if self._plan.every is not None:
            origins = [*([self._plan.reference] if self._plan.reference else []), *self._users]
            step = self._plan.every / max(len(origins), 1)
            self._due = {one: now + number * step for number, one in enumerate(dict.fromkeys(origins), 1)}

    def hear(self, sample: Sample, endpoint: Endpoint, now: float) -> None:
        """Take a probe's connection set-up, if it had one, for a control of its origin."""
        origin = origin_of(endpoint.base_url)
        if (control := control_of(sample, origin)) is not None:
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
                found = await check(origin, self._tls, self._patience(origin))
                if found is not None and (found.ok or not self._absences(began)):
                    self._keep(found, loop.time())

    def _keep(self, control: Control, now: float) -> None:
        self._newest[control.origin] = replace(control, reference=control.origin == self._plan.reference)
        if control.origin in self._due:
            self._due[control.origin] = now + (self._plan.every or EVERY_S)

    def _is_watched(self, origin: str) -> bool:
        users = self._users.values() if origin == self._plan.reference else [self._users.get(origin, [])]
        return any(self._wanted(one) for group in users for one in group)

    def _patience(self, origin: str) -> float:
        """No control is given up sooner than a probe of its origin."""
        return max((one.timeouts.connect for one in self._users.get(origin, [])), default=Timeouts().connect)
