"""FilterInput: an input of one line that leaves the space bar to the list below it."""

from textual import events
from textual.widgets import Input


class FilterInput(Input):
    """With ``ticks`` a blank is not typed: names have none, and the key ticks what is under the cursor."""

    def __init__(self, placeholder: str, *, ticks: bool = False, id: str | None = None) -> None:  # noqa: A002 - Textual's own
        super().__init__(placeholder=placeholder, id=id, compact=True)
        self._ticks = ticks

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether a key is typed into the line: then no key of the screen."""
        return not self._leaves(key) and super().check_consume_key(key, character)

    def on_key(self, event: events.Key) -> None:
        """Leave the space bar to the screen."""
        if self._leaves(event.key):
            event.prevent_default()

    def _leaves(self, key: str) -> bool:
        return self._ticks and key == "space"
