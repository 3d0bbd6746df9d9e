"""Terminal: a program on a pseudo-terminal of its own, whose output is taken away as a terminal takes it."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

COLUMNS: Final = 160
LINES: Final = 45
ENDING_S: Final = 20.0


@contextlib.contextmanager
def on_terminal(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A program that draws on a terminal nobody sees; at the end it is asked to quit by the key ``q``.

    Raises OSError where there are no pseudo-terminals, and RuntimeError where it does not end well.
    """
    try:
        import fcntl
        import pty
        import struct
        import termios
    except ImportError as error:  # Windows
        raise OSError("this system has no pseudo-terminals") from error

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(COLUMNS), "LINES": str(LINES)}
    program = subprocess.Popen(  # noqa: S603  # our own interpreter and modules
        list(command), stdin=slave, stdout=slave, stderr=slave, env={**environment, **terminal}, start_new_session=True
    )
    os.close(slave)
    threading.Thread(target=_drain, args=(master,), name="terminal", daemon=True).start()
    try:
        yield program
        with contextlib.suppress(OSError):
            os.write(master, b"\x11")  # Ctrl+Q quits whatever view is open
        if program.wait(ENDING_S) != 0:
            raise RuntimeError(f"the screen ended with status {program.returncode}")
    finally:
        if program.poll() is None:
            program.kill()
            program.wait()
        os.close(master)


def _drain(master: int) -> None:
    with contextlib.suppress(OSError):  # the last reader of a terminal that has gone
        while os.read(master, 1 << 16):
            pass
