"""Lookback: questions to the store one at a time, the newest always the next; what was read last stays until then."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

from probes.store.problem import StoreProblem

Q = TypeVar("Q")
A = TypeVar("A")

AGAIN_AFTER_MS: Final = 5_000
"""A question that could not be answered is asked again so much later."""


class LatestQuery(Generic[Q, A]):
    """``read`` answers a question from the store at a URL, in a thread, the rough first. Lives on the screen's loop.

    ``found`` is the answer to ``of``, or a rough one to what is being read; None before the first. ``problem`` says why
    the newest question has none.
    """

    def __init__(self, read: Callable[[str, Q], Iterable[A]]) -> None:
        self._read = read
        self._wanted: Q | None = None
        self._failed_at: int | None = None
        self.busy = False
        self.of: Q | None = None
        self.found: A | None = None
        self.problem = ""

    def want(self, question: Q, now: int) -> bool:
        """Ask this instead of all before; whether it is now for the caller to `run`, ``now`` being the present."""
        if question != self._wanted:
            self._wanted, self._failed_at = question, None
        again = self._failed_at is None or now - self._failed_at >= AGAIN_AFTER_MS
        due = not self.busy and question != self.of and again
        self.busy |= due
        return due

    def forget(self) -> None:
        """Drop the answer: it is not wanted any more."""
        self.of = self.found = None
        self.problem = ""

    async def run(self, url: str, now: Callable[[], int]) -> None:
        """Read until there is an answer to what is wanted; the answer to what no longer is, is dropped."""
        try:
            while self._wanted is not None and (asked := self._wanted) != self.of:
                try:
                    await self._take(url, asked)
                except StoreProblem as problem:
                    if asked == self._wanted:
                        self._failed_at, self.problem = now(), problem.detail or problem.state
                        return
        finally:
            self.busy = False

    async def _take(self, url: str, asked: Q) -> None:
        """Take the answers to a question as they come, as long as it is what is wanted."""
        answers = iter(await asyncio.to_thread(self._read, url, asked))
        while asked == self._wanted:
            answer = await asyncio.to_thread(next, answers, None)
            if asked != self._wanted:
                return
            if answer is None:
                self.of, self.problem = asked, ""
                return
            self.found = answer
