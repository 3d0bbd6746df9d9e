"""Says when something on the way began to hold answers back, so that they come at once instead of as a stream."""

from typing import Final

WINDOW: Final = 15
MAJORITY: Final = 8
FEW: Final = 2
"""Held back while most of the last 15 answers were, until no more than so many are."""

_ALL: Final = (1 << WINDOW) - 1


class BufferingWatch:
    """Watches whether answers stream; where they never did, being held back is nothing new.

    ``is_held`` since ``since``, when the first answer of the newest 15 began that was held back.
    """

    __slots__ = ("_began", "_has_streamed", "_held", "_streamed", "is_held", "is_quiet", "since")

    def __init__(self) -> None:
        self._held = self._streamed = self._began = self.since = 0
        self._has_streamed = self.is_held = self.is_quiet = False

    def observe(self, at: int, buffered: bool) -> bool:
        """Take an answer that began at ``at``; whether the judgement changed. Streams say nothing while quiet."""
        if buffered and not self._held:
            self._began = at
        self._held = (self._held << 1 | buffered) & _ALL
        self._streamed = 0 if buffered else min(WINDOW, self._streamed + 1)
        self._has_streamed = self._has_streamed or self._streamed == WINDOW
        self.is_quiet = self._has_streamed and not self._held
        count, before = self._held.bit_count(), self.is_held
        if not before and self._has_streamed and count >= MAJORITY:
            self.is_held, self.since = True, self._began
        elif before and count <= FEW:
            self.is_held = False
        return self.is_held is not before
