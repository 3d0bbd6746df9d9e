"""Sheet: a plate whose rows are made for the size it has, when it is looked at."""

from collections.abc import Callable, Sequence

from textual.geometry import Size
from textual.strip import Strip

from tui.widgets.plate import Plate, Row

Make = Callable[[int, int], Sequence[Row]]
"""Makes the rows for a width and a height."""


class Sheet(Plate):
    """Draws what is made for it; a new size or new content is made when it can be seen."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._make: Make | None = None
        self._made_for: Size | None = None

    def fill(self, make: Make | None) -> None:
        """Show what ``make`` makes; nothing of None."""
        self._make, self._made_for = make, None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row; the first asked for after a change makes them all."""
        if self._made_for != self.size:
            self._made_for = self.size
            self._rows = tuple(self._make(*self.size)) if self._make else ()
        return super().render_line(y)
