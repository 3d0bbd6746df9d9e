"""Where an export goes: a file that appears whole or not at all, or a stream."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

PRIVATE: Final = 0o600
"""The rights of a file that is its owner's alone."""


@contextmanager
def opened(out: Path | BinaryIO, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """A binary stream to ``out``. A file is written beside it, with these rights, and takes its place when complete.

    A pipe, a device and what standard output is already (``/dev/stdout``) are written to, not replaced. A link stays a
    link: the file it leads to is replaced. Raises OSError, which names the file, where it cannot be written.
    """
    if not isinstance(out, Path):
        yield out
        return
    try:
        with _opened(out, mode) as file:
            yield file
    except OSError as error:  # that of a write does not name it
        raise OSError(error.errno, error.strerror, error.filename or str(out)) from error


@contextmanager
def _opened(out: Path, mode: int) -> Iterator[BinaryIO]:
    if (kind := _status(out)) is not None and not stat.S_ISREG(kind.st_mode):
        with out.open("wb") as file:
            yield file
    elif kind is not None and os.path.samestat(kind, os.fstat(1)):
        yield sys.stdout.buffer
        sys.stdout.flush()
    else:
        with _replacing(out.resolve(), mode) as file:
            yield file


def _status(path: Path) -> os.stat_result | None:
    """What the path leads to; None where there is nothing yet. Raises OSError, also for links in a circle."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _replacing(path: Path, mode: int) -> Iterator[BinaryIO]:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # for its owner alone
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        if mode != PRIVATE:
            Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise
