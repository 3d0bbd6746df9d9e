"""Stamp: when the data of a read reached this machine, and how far that may be off."""

from typing import Final, NamedTuple

SEND_NS: Final = 50_000
"""What a system call that sends takes at most. One that took longer was interrupted, as a rule by whoever was woken
by what it had sent; a stamp after that would be late."""


class Stamp(NamedTuple):
    """When a read's data reached this machine (monotonic ns), and how much earlier it may have: None is not known.

    ``end_doubt`` is that of what the read ended with, ``doubt`` of all before it. ``kernel``: the kernel said so.
    """

    at: int
    doubt: int | None = None
    end_doubt: int | None = None
    kernel: bool = False
