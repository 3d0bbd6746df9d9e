"""CompareChoice: a list of endpoints and groups, with a filter, from which the contenders are chosen."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Input

from probes.feed.messages import EndpointFacts
from tui.compare.contender import MOST, Contender, groups
from tui.compare.keys import LIST_KEYS
from tui.keyed_screen import KeyedScreen
from tui.style.palette import Piece
from tui.widgets.plate import Plate, Row

NOTHING: Final = "Nothing matches."


class Item(NamedTuple):
    """A line that can be chosen: an endpoint, or all endpoints of a group; ``about`` describes it."""

    kind: Literal["endpoint", "group"]
    name: str
    about: str


def items(endpoints: Sequence[EndpointFacts], query: str) -> list[Item]:
    """The groups, then the endpoints, in which every word of the query occurs."""
    found = [
        Item(
            "group",
            name,
            f"the {len(members)} endpoints that serve it" if len(members) <= MOST else f"its first {MOST}",
        )
        for name, members in groups(endpoints).items()
    ]
    found += [Item("endpoint", one.name, f"{one.provider} · {one.model}") for one in endpoints]
    words = query.lower().split()
    return [one for one in found if all(word in f"{one.name} {one.about}".lower() for word in words)]


def line(item: Item, contenders: Sequence[Contender], width: int) -> Row:
    """One item as a row; an endpoint that is compared has its letter."""
    own = next((one for one in contenders if item.kind == "endpoint" and one.name == item.name), None)
    mark: Piece = (" ·   ", "dim") if own is None else (f" {own.letter} ▶ ", f"slot{own.slot}")
    if item.kind == "group":
        mark = (" ≡   ", "title")
    return (mark, (f"{item.name:{width}}  ", "figure"), (item.about, "label"))


class CompareChoice(KeyedScreen[None], ModalScreen[None]):
    """Typing filters, Enter adds or removes what is under the cursor, Escape closes.

    ``toggle`` adds an endpoint or removes it, ``choose`` compares the endpoints of a group instead; both return the
    contenders after that.
    """

    AUTO_FOCUS = "#query"
    KEYS = LIST_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [*LIST_KEYS.bindings]
    DEFAULT_CSS = """
    CompareChoice {
        align: center middle;
        background: $background 60%;
        #box {
            width: 100%; max-width: 90; height: 100%; max-height: 32;
            background: $surface; border: round $border; padding: 0 1;
            border-title-color: $foreground; border-subtitle-color: $text-muted;
        }
        #query { height: 1; border: none; padding: 0 1; background: $panel; }
        #items { height: 1fr; margin-top: 1; }
    }
    """

    def __init__(
        self,
        endpoints: Sequence[EndpointFacts],
        contenders: Sequence[Contender],
        toggle: Callable[[EndpointFacts], Sequence[Contender]],
        choose: Callable[[Sequence[EndpointFacts]], Sequence[Contender]],
    ) -> None:
        super().__init__()
        self._endpoints, self._contenders = endpoints, contenders
        self._toggle, self._choose = toggle, choose
        self._cursor, self._first, self._shown = 0, 0, items(endpoints, "")
        self._box = Vertical(id="box")
        self._query = Input(placeholder="type to filter by name, provider or model", id="query", compact=True)
        self._list = Plate(id="items")

    def compose(self) -> ComposeResult:
        """A box with the filter and the list."""
        with self._box:
            self._box.border_title = "Compare"
            yield self._query
            yield self._list
            yield self.key_line

    def on_mount(self) -> None:
        """The cursor begins at the first endpoint: the groups are above it."""
        self._cursor = next((place for place, one in enumerate(self._shown) if one.kind == "endpoint"), 0)

    def on_resize(self, _: Resize) -> None:
        """Draw as many lines as there is room for."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        self._box.border_subtitle = f"{len(self._contenders)} of at most {MOST}"
        self.show_keys()
        if not self._shown:
            self._list.draw([((NOTHING, "hint"),)])
            return
        room = max(self._list.size.height, 1)
        self._first = max(0, min(self._cursor - room // 2, len(self._shown) - room))
        width = max(len(one.name) for one in self._shown)
        rows = [line(one, self._contenders, width) for one in self._shown[self._first : self._first + room]]
        self._list.draw(rows, self._cursor - self._first)

    def action_move(self, step: int) -> None:
        """The cursor; the ends are ends."""
        self._cursor = max(0, min(len(self._shown) - 1, self._cursor + step))
        self._draw()

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self._shown, self._cursor = items(self._endpoints, event.value), 0
        self._draw()

    @on(Input.Submitted)
    def action_take(self) -> None:
        """Add what is under the cursor, or remove it."""
        if not self._shown:
            return
        item = self._shown[self._cursor]
        if item.kind == "group":
            self._contenders = self._choose(groups(self._endpoints)[item.name])
        else:
            self._contenders = self._toggle(next(one for one in self._endpoints if one.name == item.name))
        self._draw()

    @on(Plate.Clicked)
    def _clicked(self, event: Plate.Clicked) -> None:
        if self._first + event.row < len(self._shown):
            self._cursor = self._first + event.row
            self.action_take()

    def action_back(self) -> None:
        """Close; or where something was typed, drop the filter."""
        if self._query.value:
            self._query.value = ""
        else:
            self.dismiss()
