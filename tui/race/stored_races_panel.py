"""StoredRacesPanel: the list of stored races, the newest first, from which one is chosen for a replay."""

from collections.abc import Sequence

from textual import on
from textual.message import Message

from probes.store.races import RaceSummary
from probes.text import line
from tui.style.format import moment
from tui.widgets.plate import Plate, Row


class StoredRacesPanel(Plate):
    """Draws the list, the cursor in sight. Enter or a click posts `Chosen`."""

    DEFAULT_CSS = """
    StoredRacesPanel { height: 1fr; margin: 1 1 0 1; }
    """

    class Chosen(Message):
        """The race of this number is to be replayed."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.cursor = 0
        self._races: Sequence[RaceSummary] | None = None
        self._first = 0

    @property
    def count(self) -> int:
        """How many races are listed."""
        return len(self._races or ())

    def fill(self, races: Sequence[RaceSummary] | None) -> None:
        """List these races; None: they are being read."""
        self._races, self.cursor = races, 0
        self.show()

    def action_move(self, step: int) -> None:
        """Move the cursor; the ends are ends."""
        self.cursor = max(0, min(len(self._races or ()) - 1, self.cursor + step))
        self.show()

    def action_enter(self) -> None:
        """Choose the race under the cursor."""
        if self._races:
            self.post_message(self.Chosen(self._races[self.cursor].number))

    @on(Plate.Clicked)
    def _clicked(self, event: Plate.Clicked) -> None:
        place = self._first + event.row - 1
        if event.row > 0 and place < len(self._races or ()):
            self.cursor = place
            self.action_enter()

    def show(self) -> None:
        """Draw it."""
        races = self._races
        if not races:
            words = "Reading the store …" if races is None else "No race is kept yet: n chooses lanes, Enter starts."
            self.draw([((words, "hint"),)])
            return
        room = max(self.size.height - 1, 1)
        self._first = max(0, min(self.cursor - room // 2, len(races) - room))
        head: Row = (("Kept races", "title"), (f"   {len(races)}, the last first; Enter replays one", "label"))
        rows = [_row(one) for one in races[self._first : self._first + room]]
        self.draw([head, *rows], 1 + self.cursor - self._first)


def _row(one: RaceSummary) -> Row:
    lanes = " : ".join(f"★ {name}" if name == one.winner else name for name in one.lanes)
    return (
        (f" {one.number:>4}  ", "label"),
        (f"{moment(one.started_at)}  ", "label"),
        (f"{lanes}  ", "figure"),
        (f"{one.prompt_name or 'own prompt'}, {one.heats} heat{'' if one.heats == 1 else 's'}  ", "label"),
        (line(f"{one.words}; {one.stopped}" if one.stopped else one.words), "hint"),
    )
