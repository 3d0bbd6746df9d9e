"""A program on a real pseudo-terminal, drained as a terminal drains it, with what it costs."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import psutil


class Program:
    """A running program; what it writes is kept, with the time since its start at which each piece came."""

    def __init__(self, command: Sequence[str], size: tuple[int, int], env: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        columns, rows = size
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(columns), "LINES": str(rows)}
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            list(command),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, **env, **terminal},
            close_fds=True,
        )
        os.close(slave)
        self.written = b""
        self._grew = threading.Condition()
        threading.Thread(target=self._drain, daemon=True).start()

    def seen(self, text: str, within: float = 60.0) -> float:
        """Seconds from the start until ``text`` was written. Raises TimeoutError."""
        deadline = time.monotonic() + within
        with self._grew:
            while text.encode() not in self.written:
                if not self._grew.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"{text!r} was not written; the end was {self.written[-300:]!r}")
            return time.monotonic() - self.started

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def family(self) -> list[psutil.Process]:
        """The program and its children."""
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def end(self) -> None:
        """Ask it to quit, and see that it does."""
        self.press("\x11")  # Ctrl+Q quits whatever view is open
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._master)

    def _drain(self) -> None:
        while True:
            try:
                piece = os.read(self._master, 65536)
            except OSError:
                return
            if not piece:
                return
            with self._grew:
                self.written += piece
                self._grew.notify_all()


@contextmanager
def running(
    command: Sequence[str], size: tuple[int, int] = (160, 45), env: Mapping[str, str] | None = None
) -> Iterator[Program]:
    """A program on a terminal of columns × rows, ended at the end."""
    program = Program(command, size, env or {})
    try:
        yield program
    finally:
        program.end()


def cpu_seconds(process: psutil.Process) -> float:
    """CPU time a process has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


def resident_mb(process: psutil.Process) -> float:
    """Resident memory, MB."""
    return float(process.memory_info().rss / 1e6)
