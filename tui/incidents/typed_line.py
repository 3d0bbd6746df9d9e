"""TypedLine: one line to type a note, or the end of a silence, into."""

from dataclasses import replace
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from tui.incidents.silence import EXAMPLES
from tui.keys import verbs
from tui.keys.keymap import Key

Wanted = Literal["note", "silence"]


class TypedLine(Input):
    """An input of one line. Posts `Taken` on Enter, with what was ``wanted``, and `Left` when it is done."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    typing_keys: tuple[Key, ...]

    DEFAULT_CSS = """
    TypedLine.-textual-compact {
        height: 1;
        padding: 0 1;
        &, &:focus { background: $primary 15%; }
        .input--selection { color: $foreground; background: $background; }
    }
    """

    class Taken(Message):
        """A text was typed."""

        def __init__(self, wanted: Wanted, incident: str, text: str) -> None:
            super().__init__()
            self.wanted = wanted
            self.incident = incident
            self.text = text

    class Left(Message):
        """The input lost the focus: the line is to be removed."""

    def __init__(self, wanted: Wanted, incident: str, hint: str, text: str = "") -> None:
        super().__init__(text, placeholder=hint, compact=True, select_on_focus=True)
        self._wanted, self._incident = wanted, incident
        label = "keep the note" if wanted == "note" else f"silence: {EXAMPLES}"
        self.typing_keys = (replace(verbs.TAKE_TEXT, label=label), replace(verbs.DROP_TEXT, label="leave it"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: hand on what was typed; nothing where nothing was."""
        event.stop()
        if event.value.strip():
            self.post_message(self.Taken(self._wanted, self._incident, event.value.strip()))
        self.blur()

    def action_leave(self) -> None:
        """Escape: nothing is done."""
        self.blur()

    def on_blur(self, _: events.Blur) -> None:
        """Done, by Enter, by Escape or by a click elsewhere; not while a person is in another window."""
        if self.app.app_focus and self.screen.focused is not self:
            self.post_message(self.Left())
