"""File: where an export goes: a file that appears whole or not at all, or a stream."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def opened(out: Path | BinaryIO) -> Iterator[BinaryIO]:
    """What writes bytes to ``out``. A file is written beside it, for its owner alone, and takes its place when whole.

    A pipe or a device is written to, not replaced; a link stays a link. Raises OSError where it cannot be written.
    """
    if not isinstance(out, Path):
        yield out
    elif out.exists() and not out.is_file():
        with out.open("wb") as file:
            yield file
    else:
        with _replacing(out.resolve()) as file:
            yield file


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # for its owner alone
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise
