"""StoreQuery: the newest question put to the store, answered in a thread and delivered as soon as it is read."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, Generic, TypeVar

from probes.store.problem import StoreProblem

Q = TypeVar("Q")
A = TypeVar("A")

RETRY_AFTER_MS: Final = 5_000
"""A question that could not be answered is read again no sooner than this, however often it is asked."""


class StoreQuery(Generic[Q, A]):
    """Reads the answer to the newest question it was asked; one reading at a time, and off the event loop.

    ``read`` is given the store's URL and the question and runs in a thread: it yields rough answers, if it has any, and
    returns the final one; it raises StoreProblem. ``changed`` is called on the event loop when an answer, rough or
    final, or a problem has come: at once, not at a tick. What belongs to an older question is dropped.

    ``url`` gives the store, None while there is none, ``now`` the present in ms since the epoch. ``start`` runs a
    coroutine and may cancel it, as a screen's `run_worker` does when the screen is closed: ``changed`` is not called
    then.

    ``found`` is the newest answer, None before the first; what was found last stays until the next is there.
    ``answered`` is the question that has had its final answer last. ``problem`` says why the newest has none.
    """

    def __init__(
        self,
        read: Callable[[str, Q], Generator[A, None, A]],
        changed: Callable[[], None],
        *,
        url: Callable[[], str | None],
        now: Callable[[], int],
        start: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._read, self._changed = read, changed
        self._url, self._now, self._start = url, now, start
        self._failed_at: int | None = None
        self._running = False
        self._is_rough = False
        self.asked: Q | None = None
        self.answered: Q | None = None
        self.found: A | None = None
        self.problem = ""

    @property
    def reading(self) -> bool:
        """Whether the newest question is being read, or will be next."""
        return self._running and not self._is_answered

    @property
    def _is_answered(self) -> bool:
        return self.asked is None or (self.asked == self.answered and not self._is_rough)

    def ask(self, question: Q) -> None:
        """Read this instead of all before, unless it is being read, was just answered, or has just failed."""
        if question != self.asked:
            self.asked, self._failed_at = question, None
        rested = self._failed_at is None or self._now() - self._failed_at >= RETRY_AFTER_MS
        if not self._running and not self._is_answered and rested and self._url() is not None:
            self._running = True
            self._start(self._run())

    def forget(self) -> None:
        """Drop question and answer: the same question is read anew, and nothing comes of one being read."""
        self.asked = self.answered = self.found = None
        self.problem, self._failed_at, self._is_rough = "", None, False

    async def _run(self) -> None:
        try:
            problem = await self._read_newest()
        finally:
            self._running = False
        if problem is not None:
            self._failed_at, self.problem = self._now(), problem.detail or problem.state
            self._changed()

    async def _read_newest(self) -> StoreProblem | None:
        """Read until the newest question is answered, or say why it cannot be."""
        while not self._is_answered and (question := self.asked) is not None and (url := self._url()) is not None:
            try:
                await self._answer(url, question)
            except StoreProblem as problem:
                if question == self.asked:
                    return problem
        return None

    async def _answer(self, url: str, question: Q) -> None:
        """Deliver the answers to a question as they come, as long as it is the newest."""
        answers, is_final = self._read(url, question), False
        while question == self.asked and not is_final:
            answer, is_final = await asyncio.to_thread(advance, answers)
            if question == self.asked:
                self.found, self._is_rough, self.problem = answer, not is_final, ""
                if is_final:
                    self.answered = question
                self._changed()


def single(read: Callable[[str, Q], A]) -> Callable[[str, Q], Generator[A, None, A]]:
    """A reader that has one answer, the final one, as `StoreQuery` takes it."""

    def read_it(url: str, question: Q) -> Generator[A, None, A]:
        yield from ()  # no rough ones
        return read(url, question)

    return read_it


def advance(answers: Generator[A, None, A]) -> tuple[A, bool]:
    """The next answer, and whether it is the final one."""
    try:
        return next(answers), False
    except StopIteration as end:
        return end.value, True
