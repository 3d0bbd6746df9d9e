"""Runs a program on a pseudo-terminal of its own, and reads its output as a terminal would."""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

SIZE: Final = (160, 45)
"""Columns and rows."""

ENDING_S: Final = 20.0
QUIT: Final = "\x11"
"""Ctrl+Q quits whatever view is open."""

AGAIN_S: Final = 1.0
"""Seconds from one Ctrl+Q to the next: until a program reads its keys, its terminal takes this one for itself."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A running program, and the end of its terminal at which a person sits."""

    process: subprocess.Popen[bytes]
    master: int

    def press(self, keys: str) -> None:
        """Type. Raises OSError where the program has gone."""
        os.write(self.master, keys.encode())


@contextlib.contextmanager
def on_terminal(
    command: Sequence[str],
    environment: Mapping[str, str],
    size: tuple[int, int] = SIZE,
    on_output: Callable[[bytes], None] = lambda _: None,
) -> Iterator[Terminal]:
    """A program that draws on a terminal nobody sees; at the end it is asked to quit by Ctrl+Q.

    ``on_output`` is called with what it writes, from a thread of its own. Raises OSError where there are no
    pseudo-terminals, and RuntimeError where the program does not end well.
    """
    try:
        import fcntl
        import pty
        import struct
        import termios
    except ImportError as error:  # Windows
        raise OSError("this system has no pseudo-terminals") from error

    columns, lines = size
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(columns), "LINES": str(lines)}
    program = subprocess.Popen(  # noqa: S603  # our own interpreter and modules
        list(command), stdin=slave, stdout=slave, stderr=slave, env={**environment, **terminal}, start_new_session=True
    )
    os.close(slave)
    threading.Thread(target=_drain, args=(master, on_output), name="terminal", daemon=True).start()
    try:
        yield (one := Terminal(program, master))
        if (status := _quit(one)) != 0:
            raise RuntimeError(f"the screen ended with status {status}")
    finally:
        if program.poll() is None:
            program.kill()
            program.wait()
        os.close(master)


def _quit(one: Terminal) -> int:
    """The status a program ends with that is asked to."""
    deadline = time.monotonic() + ENDING_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            one.press(QUIT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return one.process.wait(AGAIN_S)
    raise RuntimeError(f"the screen did not end within {ENDING_S:g} s")


def _drain(master: int, on_output: Callable[[bytes], None]) -> None:
    with contextlib.suppress(OSError):  # the last reader of a terminal that has gone
        while piece := os.read(master, 1 << 16):
            on_output(piece)
