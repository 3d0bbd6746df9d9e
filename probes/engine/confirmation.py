"""Probes an endpoint again soon after one of its probes failed, to tell trouble from a blip."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec.structs import replace

from probes.config_error import ConfigError
from probes.endpoint import Endpoint
from probes.engine.services import MonitorServices
from probes.keys.secret import KeyMissing

AFTER_S: Final = (5.0, 20.0)
"""Seconds from the end of the failed probe to those that confirm it; the second waits for the end of the first."""

SCHEDULED_SOON_S: Final = 10.0
"""An endpoint that is probed so often, or is due so soon, needs no other probe: the scheduled one tells as well."""

log = logging.getLogger(__name__)


class Confirmation:
    """Up to two probes of an endpoint that begin `AFTER_S` from now, on the running loop, while ``may_send`` says so.

    ``probe`` sends one and waits for its end. `end` begins no more of them.
    """

    def __init__(self, name: str, probe: Callable[[], Awaitable[None]], may_send: Callable[[], bool]) -> None:
        self._name = name
        self._probe = probe
        self._may_send = may_send
        self._has_ended = self._is_probing = False
        self._task = asyncio.create_task(self._run(), name=f"confirming a failure of {name}")

    @property
    def is_over(self) -> bool:
        """Whether no more of its probes will begin, and none is running."""
        return self._task.done()

    def end(self) -> None:
        """Begin no more probes; one that runs ends by itself."""
        self._has_ended = True

    async def stop(self, grace: float) -> None:
        """Let a running probe finish within ``grace`` seconds, else cancel it."""
        self.end()
        if self._is_probing:
            await asyncio.wait({self._task}, timeout=grace)
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for after in AFTER_S:
            await asyncio.sleep(began + after - loop.time())
            if self._has_ended:
                return
            if self._may_send():
                self._is_probing = True
                try:
                    await self._probe()
                except Exception:  # a scheduled probe will tell
                    log.exception("confirming a failure of %s", self._name)
                self._is_probing = False


async def probe_beside(endpoint: Endpoint, services: MonitorServices) -> None:
    """Probe an endpoint beside its schedule, over a connection of its own, so that those of the schedule stay.

    It ends in a sample of the kind ``confirm``, without the text of its answer; in none where a key or a file is gone.
    """
    reserved = services.reserve_budget(endpoint)
    try:
        prober = services.make_prober(endpoint)
        try:
            result = await prober.probe(await services.find_credentials(endpoint), afford=reserved.cover)
        finally:
            prober.close()
        services.deliver(replace(result.sample, kind="confirm"), "", endpoint)
    except (KeyMissing, ConfigError) as missing:
        log.info("a failure of %s is not confirmed: %s", endpoint.name, missing)
    finally:
        reserved.release()
