"""PickScreen: a box over the current screen with a filter and a list, from which one item is picked by key or mouse."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.widgets import Input

from tui.screens.box_screen import BoxScreen
from tui.widgets.plate import Plate, Row

Item = TypeVar("Item")


class PickScreen(BoxScreen, Generic[Item]):
    """Typing filters, Enter or a click takes the item under the cursor, Escape drops the filter, then closes.

    A subclass implements `found` (the items that match), `row` (how an item is drawn) and `take` (what picking it
    does); its ``KEYS`` come from `tui.keys.verbs.list_keys`.
    """

    PLACEHOLDER: ClassVar[str] = "type to filter"
    NOTHING: ClassVar[str] = "Nothing matches."
    AUTO_FOCUS = "#query"
    DEFAULT_CSS = """
    PickScreen {
        #query { height: 1; border: none; padding: 0 1; background: $panel; }
        #items { height: 1fr; margin-top: 1; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.cursor = 0
        self._first = 0
        self._shown: Sequence[Item] = ()
        self._query = self.filter_input()
        self._list = Plate(id="items")

    def filter_input(self) -> Input:
        """The line that the filter is typed into."""
        return Input(placeholder=self.PLACEHOLDER, id="query", compact=True)

    def found(self, query: str) -> Sequence[Item]:
        """The items that match ``query``, in the order of the list."""
        raise NotImplementedError

    def row(self, item: Item) -> Row:
        """An item as one row of styled text."""
        raise NotImplementedError

    def take(self, item: Item) -> None:
        """Do what picking this item means."""
        raise NotImplementedError

    @property
    def note(self) -> str:
        """Words in the box's lower border."""
        return ""

    def content(self) -> ComposeResult:
        """The filter and the list."""
        yield self._query
        yield self._list

    def on_mount(self) -> None:
        """List every item."""
        self._shown = self.found("")

    def list_again(self) -> None:
        """List what matches now, after a change of what there is; the cursor stays where it is."""
        self._shown = self.found(self._query.value)
        self.cursor = max(0, min(self.cursor, len(self._shown) - 1))
        self.draw()

    def on_resize(self, _: events.Resize) -> None:
        """Draw as many lines as there is room for."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Draw the lines around the cursor."""
        self.box.border_subtitle = self.note
        self.show_keys()
        if not self._shown:
            self._list.draw([((self.NOTHING, "hint"),)])
            return
        room = max(self._list.size.height, 1)
        self._first = max(0, min(self.cursor - room // 2, len(self._shown) - room))
        rows = [self.row(one) for one in self._shown[self._first : self._first + room]]
        self._list.draw(rows, self.cursor - self._first)

    def action_move(self, step: int) -> None:
        """Move the cursor by so many rows; it stops at the ends."""
        self.cursor = max(0, min(len(self._shown) - 1, self.cursor + step))
        self.draw()

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self._shown, self.cursor = self.found(event.value), 0
        self.draw()

    @on(Input.Submitted)
    def action_take(self) -> None:
        """Take the item under the cursor."""
        if self._shown:
            self.take(self._shown[self.cursor])

    @on(Plate.Clicked)
    def _clicked(self, event: Plate.Clicked) -> None:
        if self._first + event.row < len(self._shown):
            self.cursor = self._first + event.row
            self.action_take()

    def disabled_keys(self) -> Mapping[str, str]:
        """Escape drops the filter where there is one, and else closes."""
        return {"back": ""} if self._query.value else {"list.all": ""}

    def action_drop(self) -> None:
        """Drop the filter."""
        self._query.value = ""
