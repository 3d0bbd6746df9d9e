"""Lines of a text file that may be of any size: of bounded length, in UTF-8, with their numbers."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import BinaryIO, Final

from probes.imports.refused import ImportRefused

LONGEST: Final = 1_000_000
"""Bytes of a line. That of a sample has a few thousand."""


def lines(file: BinaryIO) -> Iterator[tuple[int, str]]:
    """The lines from the beginning, each with its number, from 1, and with its end. Raises ImportRefused."""
    number = 0
    while read := file.readline(LONGEST + 1):
        number += 1
        if len(read) > LONGEST:
            raise ImportRefused(f"is longer than {LONGEST:,} bytes: no sample is", place=place(number))
        if number == 1:
            read = read.removeprefix(BOM_UTF8)
        try:
            yield number, read.decode()
        except UnicodeDecodeError as error:
            raise ImportRefused(f"byte {error.start + 1} is not UTF-8", place=place(number)) from None


def place(number: int) -> str:
    """What a line is called in an error."""
    return f"line {number}"
