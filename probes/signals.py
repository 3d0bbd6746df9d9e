"""The signals by which a system or a person asks a process to end, and a stop event that they set."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from typing import Final

ENDING: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
)
"""SIGHUP: the terminal has gone; SIGQUIT is Ctrl+\\."""


def ending_signals() -> list[signal.Signals]:
    """Those of `ENDING` to be obeyed.

    A SIGHUP or SIGQUIT that the parent process has set to be ignored (nohup, a shell's background job) stays ignored.
    """
    always = (signal.SIGINT, signal.SIGTERM)
    return [one for one in ENDING if one in always or signal.getsignal(one) is not signal.SIG_IGN]


@contextlib.contextmanager
def stop_on_signals(stop: asyncio.Event) -> Iterator[None]:
    """Set ``stop`` on the first signal to end; a second one, for impatience, ends the process at once.

    As the system does it: Python's KeyboardInterrupt would break off every task in its midst, each with a traceback.
    """
    loop = asyncio.get_running_loop()
    wanted = ending_signals()

    def set_once() -> None:
        stop.set()
        for one in wanted:
            loop.remove_signal_handler(one)
            signal.signal(one, signal.SIG_DFL)

    try:
        for one in wanted:
            loop.add_signal_handler(one, set_once)
    except NotImplementedError:  # Windows: Ctrl-C raises KeyboardInterrupt in asyncio.run, which is as good
        yield
        return
    try:
        yield
    finally:
        for one in wanted:
            loop.remove_signal_handler(one)
