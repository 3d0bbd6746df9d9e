"""Runs a command line of inftop with standard streams that can be used, and ends it quietly at Ctrl+C."""

import codecs
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, TextIO

from probes.cli.exit_codes import ExitCode, ending_in_words
from probes.resources import missing_behind

_STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""The names in `sys` of the file descriptors 0, 1 and 2, and how each is opened."""


_ASKED_BY_A_SHELL: Final = "_INFTOP_COMPLETE"
"""The variable of the environment by which a shell asks for completions; it runs ``inftop`` without any words."""


def asked_for_completions() -> bool:
    """Whether a shell asks what could stand next on a command line, in place of a person who runs one."""
    return bool(os.environ.get(_ASKED_BY_A_SHELL))


def run(command: Callable[[], None]) -> None:
    """Run a command with usable standard streams; Ctrl+C ends it without a traceback, however early it comes.

    Where all else was well, but what it printed could not be written to its end, the exit code says so.
    """
    sys.excepthook = _tell_defects
    try:
        code = _code_of(command)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    problem = _flush(sys.stdout)
    if problem is not None and not code:
        code = ExitCode.NOT_OK
        if not isinstance(problem, BrokenPipeError):  # the reader of a pipe that goes has read all it wants
            _say(problem.strerror or str(problem))
    if isinstance(code, str):
        _say(code)
        code = ExitCode.NOT_OK
    _flush(sys.stderr)
    if code:
        sys.exit(code)


def _say(text: str) -> None:
    with suppress(OSError):  # where nobody can be told, the exit code alone tells
        print(text, file=sys.stderr)  # noqa: T201


def _code_of(command: Callable[[], None]) -> int | str | None:
    """What a command ends with: an exit code, or a message of what went wrong."""
    try:
        with ending_in_words():
            open_closed_streams()
            replace_unencodable()
            command()
    except SystemExit as ending:
        return ending.code
    return None


def _tell_defects(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Print an error that nobody caught, as Python does; what the machine lacks is said in words at the end."""
    if not missing_behind(error):
        sys.__excepthook__(kind, error, where)


def _flush(stream: TextIO) -> OSError | None:
    """Write what a stream still holds. Where that cannot be, drop it, or Python would fail to, noisily; say why."""
    try:
        stream.flush()
    except OSError as problem:
        with suppress(OSError), open(os.devnull, "wb") as null:  # noqa: PTH123
            os.dup2(null.fileno(), stream.fileno())
            stream.flush()
        return problem
    return None


def at_terminal() -> bool:
    """Whether there is a terminal to draw on and to read keys from."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def open_closed_streams() -> None:
    """Put the null device where a standard stream is closed (``<&-``).

    Python has None for it then, and the next file or socket would get its descriptor.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)  # so that our children have it too
            if null != number:
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def replace_unencodable() -> None:
    """Write ``?`` for a character that a stream's encoding lacks, in place of failing the whole line.

    In the locale C Python has names of files go through as they are (``surrogateescape``); UTF-8 lacks nothing else.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            has_all = codecs.lookup(stream.encoding).name == "utf-8"
            if stream.errors == "strict" or (stream.errors == "surrogateescape" and not has_all):
                stream.reconfigure(errors="replace")
