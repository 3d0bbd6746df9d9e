"""Key and KeyTable: the keys of a page, from which its bindings, footer, help and palette commands are made."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol, get_args, runtime_checkable

from textual.binding import Binding

Section = Literal["Look", "Order", "Do", "Move", "Program"]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)


@dataclass(frozen=True, slots=True)
class Key:
    """What one key does. ``id`` names the verb and is stable; ``keys`` as Textual names them, comma-separated.

    ``shown`` is the key as printed, ``label`` its word in the footer and ``title`` its name in the palette ("" for
    none), ``help`` one sentence. ``former`` are keys of earlier versions, which still do it and are shown nowhere.
    """

    id: str
    keys: str
    shown: str
    action: str
    section: Section
    label: str
    title: str
    help: str
    former: str = ""


@runtime_checkable
class TypedInto(Protocol):
    """A widget that takes keys as text while it, or what is in it, has the focus; these are the others."""

    typing_keys: tuple[Key, ...]


def where(holds: bool, ids: Iterable[str], why: str = "") -> dict[str, str]:
    """These ids with the reason why their keys do nothing, where that holds; else nothing."""
    return dict.fromkeys(ids, why) if holds else {}


@dataclass(frozen=True, slots=True)
class KeyTable:
    """All keys of one ``page``. ``footer``: the ids its footer shows, in the order in which they are dropped last.

    Several keys of a page may have the same ``keys`` where at most one of them works at a time.
    """

    page: str
    keys: tuple[Key, ...]
    footer: tuple[str, ...]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys)

    def __getitem__(self, id: str) -> Key:  # noqa: A002 - a key's id
        return next(key for key in self.keys if key.id == id)

    @property
    def bindings(self) -> list[Binding]:
        """The bindings of a screen, as Textual takes them; none shows in a footer of Textual's own."""
        return [
            Binding(
                ",".join(filter(None, (key.keys, key.former))),
                f"key({key.id!r})",
                key.help,
                show=False,
                key_display=key.shown,
                id=key.id,
            )
            for key in self.keys
        ]
