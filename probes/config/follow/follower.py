"""ConfigFollower: a thread that looks at the configuration file twice a second, for an event loop."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from probes.config.file import Named
from probes.config.follow.watch import BrokenFile, ConfigWatch
from probes.config.load import Config
from probes.config_error import ConfigError
from probes.supervision import Supervisor, call_on_loop

LOOK_S: Final = 0.5
"""Seconds between two looks at the file."""


class ConfigFollower:
    """Calls ``on_change``, on the event loop it is made on, with what the file says whenever that has changed.

    The first call comes soon after the start: the file may have changed since it was read. What ``prepare`` makes of
    each configuration, in the thread, is told; where it raises ValueError or ConfigError, that is what is wrong with
    the file. ``looked_at`` is when the file was last seen as it was told to ``on_change`` (ms since the epoch). The
    thread ends with `close`, or with the process or its loop; ``supervisor`` begins it again where it ends by itself.
    """

    def __init__(
        self,
        named: Named | Path | None,
        on_change: Callable[[Config | BrokenFile], None],
        prepare: Callable[[Config], Config] = lambda config: config,
        *,
        supervisor: Supervisor,
    ) -> None:
        self._watch = ConfigWatch(named)
        self._on_change = on_change
        self._prepare = prepare
        self._loop = asyncio.get_running_loop()
        self._wake = threading.Event()
        self._is_closed = False
        self._is_asked = False
        self.looked_at = time.time_ns() // 1_000_000
        self._thread = supervisor.thread("following the configuration", self._run)

    def look_now(self) -> None:
        """Read the file at once, whether or not it seems to have changed, as a person asks."""
        self._is_asked = True
        self._wake.set()

    def close(self) -> None:
        """Look no more; returns at once."""
        self._is_closed = True
        self._thread.stop()
        self._wake.set()

    def _run(self) -> None:
        while not (self._is_closed or self._loop.is_closed()):
            asked = self._wake.wait(LOOK_S) and self._is_asked
            self._wake.clear()
            self._is_asked = False
            self._look(asked)

    def _look(self, asked: bool) -> None:
        looked_at = time.time_ns() // 1_000_000
        found = self._watch.look(time.monotonic(), at_once=asked)
        if isinstance(found, Config):
            try:
                found = self._prepare(found)
            except (ConfigError, ValueError) as error:
                found = BrokenFile(found.path, str(error))
        if found is not None:
            call_on_loop(self._loop, self._tell, found, looked_at)
        elif self._watch.is_settled:
            self.looked_at = looked_at

    def _tell(self, found: Config | BrokenFile, looked_at: int) -> None:
        if not self._is_closed:
            self.looked_at = looked_at
            self._on_change(found)
