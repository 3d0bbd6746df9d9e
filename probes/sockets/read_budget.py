"""Read budget: how much of what a server sends for one answer is read before it is given up as a flood."""

from typing import Final, Self

RECORDS: Final = 20_000
RECORDS_A_TOKEN: Final = 16
"""A streamed token is one read, one HTTP chunk, two or three lines and an event or two."""

SIZE: Final = 8 << 20
SIZE_A_TOKEN: Final = 4 << 10
"""Bytes; a streamed token takes 200 to 400, in drafts the whole answer so far."""

IDLE_RECORDS: Final = 1_000
IDLE_SIZE: Final = 256 << 10
"""Of what comes while nothing is asked: pings, and a word about the connection."""


class ReadBudgetSpent(Exception):  # noqa: N818  # what ended, in the words of the sample's detail
    """The other side sent more than its answer may take to read."""


class ReadBudget:
    """So many records and bytes may be read. A record is a read, an HTTP header or chunk, a frame, a line or an event.

    It bounds the work that an answer can make, whatever it is made of: bytes alone do not, since a newline or an empty
    frame costs as much to decode as a whole line.
    """

    __slots__ = ("_purpose", "_records", "_records_left", "_size", "_size_left")

    def __init__(self, records: int, size: int, purpose: str) -> None:
        """``purpose`` says in the message what was to be read."""
        self._records = self._records_left = records
        self._size = self._size_left = size
        self._purpose = purpose

    @classmethod
    def of_answer(cls, tokens: int) -> Self:
        """That of an answer for which so many tokens were asked."""
        purpose = f"for an answer of at most {tokens:,} tokens"
        return cls(RECORDS + RECORDS_A_TOKEN * tokens, SIZE + SIZE_A_TOKEN * tokens, purpose)

    @classmethod
    def of_idle(cls) -> Self:
        """That of a connection while nothing is asked over it."""
        return cls(IDLE_RECORDS, IDLE_SIZE, "while nothing was asked")

    def spend(self, records: int, size: int = 0) -> None:
        """Count what was read. Raises ReadBudgetSpent where that was too much."""
        self._records_left -= records
        self._size_left -= size
        if self._records_left < 0:
            raise ReadBudgetSpent(f"a flood: over {self._records:,} lines, frames or events {self._purpose}")
        if self._size_left < 0:
            raise ReadBudgetSpent(f"a flood: over {self._size / (1 << 20):,.1f} MiB {self._purpose}")
