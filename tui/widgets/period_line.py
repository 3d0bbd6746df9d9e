"""PeriodLine: one line to type a period into; why a text is none is said in a notice."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from tui.keys import verbs
from tui.time.period import Period


class PeriodLine(Input):
    """An input of one line. Posts `Chosen` on Enter where the text is a period, and `Left` when it is done.

    ``parse`` makes a period of a text, or raises ValueError with what is allowed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    typing_keys = (replace(verbs.TAKE_TEXT, label="go there"), replace(verbs.DROP_TEXT, label="stay"))

    DEFAULT_CSS = """
    PeriodLine.-textual-compact {
        height: 1;
        padding: 0 1;
        &, &:focus { background: $primary 15%; }
    }
    """

    class Chosen(Message):
        """A period was typed."""

        def __init__(self, period: Period) -> None:
            super().__init__()
            self.period = period

    class Left(Message):
        """The input lost the focus: the line is to be removed."""

    def __init__(self, parse: Callable[[str], Period]) -> None:
        super().__init__(
            placeholder="2026-11-14, 2026-11-14 15:00, 2026-11-01 .. 2026-11-14, or 36h",
            compact=True,
            select_on_focus=False,
        )
        self._parse = parse

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: go there, or say why not."""
        event.stop()
        try:
            period = self._parse(event.value)
        except ValueError as error:
            self.notify(f"{error}.", severity="warning", markup=False)
            return
        self.post_message(self.Chosen(period))
        self.blur()

    def action_leave(self) -> None:
        """Escape: leave the period as it is."""
        self.blur()

    def on_blur(self, _: events.Blur) -> None:
        """Done, by Enter, by Escape or by a click elsewhere; not while a person is in another window."""
        if not self.app.app_focus or self.screen.focused is self:
            return
        self.post_message(self.Left())
