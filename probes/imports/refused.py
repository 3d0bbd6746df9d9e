"""The error of a file that is not imported: where in it, which column, and what is allowed there."""

from typing import Self

from probes.text import plain


class ImportRefused(Exception):  # noqa: N818  # what happened to the file, not what went wrong in it
    """A file that is not taken. ``place`` is the line or the row in it, ``column`` the column's name, if any."""

    def __init__(self, words: str, *, place: str = "", column: str = "") -> None:
        super().__init__(words)
        self.words, self.place, self.column, self.file = words, place, column, ""

    def of(self, file: str) -> Self:
        """The same error, with the file named."""
        self.file = plain(file)
        return self

    def __str__(self) -> str:
        where = ", ".join(one for one in (self.file, self.place, self.column and f"column {self.column}") if one)
        return f"{where}: {self.words}" if where else self.words
