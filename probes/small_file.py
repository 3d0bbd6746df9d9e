"""Small files that people write, such as a configuration or a prompt, read whole; a device without an end is told."""

from pathlib import Path
from typing import Final

SIZE_LIMIT: Final = 1 << 20
"""Bytes: more than anybody writes by hand."""


def read_small_text(path: Path) -> str:
    """The UTF-8 text of a file or a pipe, without a byte order mark.

    Raises OSError where it cannot be read, and ValueError, which says why, where it is longer than `SIZE_LIMIT` or is
    not text.
    """
    with path.open("rb") as file:
        raw = file.read(SIZE_LIMIT + 1)
    if len(raw) > SIZE_LIMIT:
        raise ValueError(f"longer than {SIZE_LIMIT >> 20} MB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None
