"""Feed: what the engine says to a screen, joined into few frames, and what the screen wishes, read from a pipe.

A probe never waits for a screen: frames that were not taken yet are merged into the next one, and what is written
is written by a thread of its own.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from io import RawIOBase
from typing import Final

from probes.feed.messages import FRAMES_PER_SECOND, Command, EngineStatus, Frame, Hello, MonitorStatus, decode, encode
from probes.race.updates import RaceCommand, RaceNews
from probes.sample import Sample

QUIET_S: Final = 1.0
"""A frame goes out at least this often: a screen tells a silent engine from a calm one by it."""

UNTAKEN_LIMIT: Final = 10_000
"""Samples kept for a screen that does not read; the store has them all, so the oldest are let go."""


class Feed:
    """Collects samples and statuses and writes frames to ``out``, at most 20 a second. `close` writes the last one.

    ``out`` is unbuffered: a buffer held by a thread that waits for a dead screen would hang the exit.
    """

    def __init__(
        self,
        out: RawIOBase,
        engine_status: Callable[[], EngineStatus],
        race_news: Callable[[], RaceNews | None] = lambda: None,
    ) -> None:
        self._engine_status = engine_status
        self._race_news = race_news
        self._racing = False
        self._samples: list[Sample] = []
        self._answers: dict[str, str] = {}
        self._watches: dict[str, MonitorStatus] = {}
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._lines: queue.Queue[list[Frame | Hello | RaceNews] | None] = queue.Queue(maxsize=1)
        self._broken = False
        self._writer = threading.Thread(target=self._write, args=(out,), name="feed", daemon=True)
        self._writer.start()

    def hello(self, hello: Hello) -> None:
        """The first line."""
        self._lines.put([hello])

    def sample(self, sample: Sample, text: str) -> None:
        """Tell of a sample; ``text`` replaces the endpoint's last answer unless it is empty."""
        self._samples.append(sample)
        del self._samples[:-UNTAKEN_LIMIT]
        if text:
            self._answers[sample.endpoint] = text
        self._soon()

    def watch(self, status: MonitorStatus) -> None:
        """Tell of an endpoint's status."""
        self._watches[status.endpoint] = status
        self._soon()

    def race(self) -> None:
        """Tell that there is news of a race; it is asked for when a frame goes out."""
        self._racing = True
        self._soon()

    def close(self) -> None:
        """Write what is left, if the screen still reads, and end the thread."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            self._lines.put(self._messages(), timeout=1)
            self._lines.put(None, timeout=1)
        except queue.Full:
            return  # the screen does not read any more; the thread is a daemon
        self._writer.join(timeout=1)

    def _soon(self, after: float = 0.0) -> None:
        if self._timer is None:
            wait = max(after, self._last + 1 / FRAMES_PER_SECOND - self._loop.time(), 0.0)
            self._timer = self._loop.call_later(wait, self._flush)
        elif after == 0.0 and self._timer.when() > self._loop.time() + 1 / FRAMES_PER_SECOND:
            self._timer.cancel()
            self._timer = None
            self._soon()

    def _flush(self) -> None:
        self._timer = None
        self._last = self._loop.time()
        if not self._broken and not self._lines.full():
            self._lines.put_nowait(self._messages())
            self._samples, self._answers, self._watches = [], {}, {}
        self._soon(QUIET_S)

    def _messages(self) -> list[Frame | Hello | RaceNews]:
        """What goes out now: a frame, and the news of a race where there is some."""
        racing, self._racing = self._racing, False
        news = self._race_news() if racing else None
        return [self._frame()] if news is None else [self._frame(), news]

    def _frame(self) -> Frame:
        return Frame(
            at=time.time_ns() // 1_000_000,
            engine=self._engine_status(),
            watches=tuple(self._watches.values()),
            samples=tuple(self._samples),
            answers=self._answers or None,
        )

    def _write(self, out: RawIOBase) -> None:
        """Encode and write, in the thread: milliseconds of JSON are not to stand between a socket and its stamp."""
        while (messages := self._lines.get()) is not None:
            if not self._broken:
                try:
                    left = memoryview(b"".join(map(encode, messages)))
                    while left:
                        left = left[out.write(left) or 0 :]
                except (OSError, ValueError):
                    self._broken = True


def read_commands(source: RawIOBase, act: Callable[[Command | RaceCommand], None], gone: Callable[[], None]) -> None:
    """Read command lines in a thread until the end of file, which calls ``gone``; both are called on the loop.

    A line that is no command is passed over: a newer screen may know more wishes than this engine.
    """
    loop = asyncio.get_running_loop()

    def tell(call: Callable[[], None]) -> None:
        try:
            loop.call_soon_threadsafe(call)
        except RuntimeError:
            return  # the loop has ended: nobody is left to tell

    def read() -> None:
        for line in iter(source.readline, b""):
            try:
                message = decode(line)
            except ValueError:
                continue
            if isinstance(message, Command | RaceCommand):
                tell(lambda command=message: act(command))  # type: ignore[misc]
        tell(gone)

    threading.Thread(target=read, name="commands", daemon=True).start()
