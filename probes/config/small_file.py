"""Small files that people write, such as a configuration or a prompt, read whole; a device without an end is told."""

import os
from pathlib import Path
from typing import Final, NamedTuple

SIZE_LIMIT: Final = 1 << 20
"""Bytes: more than anybody writes by hand."""


class SmallFile(NamedTuple):
    """A file that was read: its text, and what the system said of the very file that was open."""

    text: str
    status: os.stat_result


def read_small_text(path: Path) -> str:
    """The text of `read_small_file`."""
    return read_small_file(path).text


def read_small_file(path: Path) -> SmallFile:
    """A file or a pipe, with its UTF-8 text, without a byte order mark.

    Raises OSError where it cannot be read, and ValueError, which says why, where it is longer than `SIZE_LIMIT` or is
    not text.
    """
    with path.open("rb") as file:
        raw = file.read(SIZE_LIMIT + 1)
        status = os.fstat(file.fileno())
    if len(raw) > SIZE_LIMIT:
        raise ValueError(f"longer than {SIZE_LIMIT >> 20} MB")
    try:
        return SmallFile(raw.decode("utf-8-sig"), status)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None
