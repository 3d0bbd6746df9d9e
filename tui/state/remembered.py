"""Remembered: the last value made under each name, made again only when that which it is made of is another."""

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Remembered(Generic[V]):
    """All that a tick does not make anew is kept in one of these: views of endpoints, and rows drawn of them.

    What is asked for and what it is made of are given each time, so nothing has to be told that something changed:
    a pure function of equal arguments is not called again. Frozen values compare by identity first, so that is cheap.
    One value for each name, the newest: memory is bounded by the number of names.
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[str, tuple[object, V]] = {}

    def of(self, name: str, made_of: object, make: Callable[[], V]) -> V:
        """The value under this name; ``make`` is called where there is none that was made of the same."""
        known = self._made.get(name)
        if known is None or known[0] != made_of:
            known = self._made[name] = (made_of, make())
        return known[1]

    def forget(self) -> None:
        """Forget every value: names may be others from now on."""
        self._made.clear()
