"""Runs a command line of inftop with standard streams that can be used, and ends it quietly at Ctrl+C."""

import io
import os
import sys
from collections.abc import Callable
from typing import Final

from probes.cli.exit_codes import ExitCode

_STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""The names in `sys` of the file descriptors 0, 1 and 2, and how each is opened."""


_ASKED_BY_A_SHELL: Final = "_INFTOP_COMPLETE"
"""The variable of the environment by which a shell asks for completions; it runs ``inftop`` without any words."""


def asked_for_completions() -> bool:
    """Whether a shell asks what could stand next on a command line, in place of a person who runs one."""
    return bool(os.environ.get(_ASKED_BY_A_SHELL))


def run(command: Callable[[], None]) -> None:
    """Run a command with usable standard streams; Ctrl+C ends it without a traceback, however early it comes."""
    try:
        open_closed_streams()
        replace_unencodable()
        command()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)


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
    """Write ``?`` for a character that a stream's encoding lacks, in place of failing the whole line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
