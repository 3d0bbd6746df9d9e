"""KeyedScreen: a screen with a table of keys; one answer says which of them work now, to keys, footer and palette."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple, TypeVar

from textual.screen import Screen

from probes.sample import Sample
from tui.keys.keymap import Key, KeyTable, TypedInto
from tui.widgets.key_line import KeyLine

T = TypeVar("T")


class MarkedRow(NamedTuple):
    """The row that is marked: as text, with the sample it is of or shows newest, and its endpoint."""

    text: str = ""
    sample: Sample | None = None
    endpoint: str | None = None


class KeyedScreen(Screen[T]):
    """A screen says in ``KEYS`` what its keys are, and in `idle` which of them would do nothing now.

    Its bindings are ``KEYS.bindings``; in `compose` it puts ``key_line`` last, and calls `show_keys` when it has drawn.
    """

    KEYS: ClassVar[KeyTable]
    DEFAULT_CSS = "KeyedScreen > KeyLine { dock: bottom; }"

    def __init__(self) -> None:
        super().__init__()
        self.key_line = KeyLine(id="keys")

    def idle(self) -> Mapping[str, str]:
        """The ids of the keys that would do nothing now, and why: what a person is told who presses one, "" nothing."""
        return {}

    @property
    def working_keys(self) -> list[Key]:
        """What the keys do now: of several with the same key only the first that works."""
        idle = self.idle()
        first: dict[str, Key] = {}
        for key in self.KEYS:
            if key.id not in idle:
                first.setdefault(key.keys, key)
        return list(first.values())

    @property
    def marked_row(self) -> MarkedRow:
        """What `C` copies."""
        return MarkedRow()

    def on_descendant_focus(self) -> None:
        """While something is typed the footer has other keys."""
        self.show_keys()

    def on_descendant_blur(self) -> None:
        """It was typed."""
        self.show_keys()

    def show_keys(self) -> None:
        """The footer as it is now."""
        around = self.focused.ancestors_with_self if self.focused else ()
        if (line := next((one for one in around if isinstance(one, TypedInto)), None)) is not None:
            self.key_line.show(line.typing_keys)
            return
        works = {key.id: key for key in self.working_keys}
        self.key_line.show(tuple(works[one] for one in self.KEYS.footer if one in works))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key is answered: by what it does, or by why it cannot. Else another key's turn comes."""
        return action != "key" or self.idle().get(str(parameters[0])) != ""

    async def action_key(self, id: str) -> None:  # noqa: A002 - a key's id
        """Do what this key does, or say why it cannot be done now."""
        if reason := self.idle().get(id):
            self.notify(reason, severity="warning", markup=False)
        else:
            await self.app.run_action(self.KEYS[id].action, default_namespace=self)
