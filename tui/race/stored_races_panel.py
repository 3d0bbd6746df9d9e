"""StoredRacesPanel: the list of stored races, the newest first, from which one is chosen for a replay."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from probes.text import line
from tui.style.format import moment
from tui.widgets.plate import Plate, Row

if TYPE_CHECKING:
    from probes.store.races import RaceSummary


class StoredRacesPanel(Plate):
    """Draws the list, the cursor in sight."""

    DEFAULT_CSS = """
    StoredRacesPanel { height: 1fr; margin: 1 1 0 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.cursor = 0
        self._races: Sequence[RaceSummary] | None = None
        self._first = 0

    @property
    def chosen(self) -> "RaceSummary | None":
        """The race under the cursor."""
        return self._races[self.cursor] if self._races else None

    def fill(self, races: "Sequence[RaceSummary] | None") -> None:
        """List these races; None: they are being read."""
        self._races, self.cursor = races, 0
        self.show()

    def move(self, step: int) -> None:
        """Move the cursor; the ends are ends."""
        self.cursor = max(0, min(len(self._races or ()) - 1, self.cursor + step))
        self.show()

    def place_at(self, row: int) -> int | None:
        """The index of the race that is drawn in a row; None where there is none."""
        place = self._first + row - 1
        return place if row > 0 and place < len(self._races or ()) else None

    def show(self) -> None:
        """Draw it."""
        races = self._races
        if not races:
            words = (
                "Reading the store …" if races is None else "No race is kept yet: choose lanes with n, start with s."
            )
            self.draw([((words, "hint"),)])
            return
        room = max(self.size.height - 1, 1)
        self._first = max(0, min(self.cursor - room // 2, len(races) - room))
        head: Row = (("Kept races", "title"), (f"   {len(races)}, the last first; Enter replays one", "label"))
        rows = [_row(one) for one in races[self._first : self._first + room]]
        self.draw([head, *rows], 1 + self.cursor - self._first)


def _row(one: "RaceSummary") -> Row:
    lanes = " : ".join(f"★ {name}" if name == one.winner else name for name in one.lanes)
    return (
        (f" {one.number:>4}  ", "label"),
        (f"{moment(one.started_at)}  ", "label"),
        (f"{lanes}  ", "figure"),
        (f"{one.prompt_name or 'own prompt'}, {one.heats} heat{'' if one.heats == 1 else 's'}  ", "label"),
        (line(f"{one.words}; {one.stopped}" if one.stopped else one.words), "hint"),
    )
