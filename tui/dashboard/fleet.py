"""FleetPanel: every endpoint as a row with four live columns."""

from tui.dashboard.columns import Columns, columns
from tui.dashboard.row import Scales, drawn_state, head, row, scales
from tui.state.view import Dashboard, EndpointView
from tui.widgets.grid import Grid, Line

HEADING = len("endpoint")
NOTHING_MATCHES = "no endpoint matches the filter · Esc drops it"
NOTHING_YET = "no endpoints yet · waiting for the engine"


class FleetPanel(Grid):
    """Draws a dashboard as rows. ``tall`` rows are two lines high, ``headings`` stand above groups.

    Both are set by `fit`, or before `show`. ``shared_scale``: one scale for all rows' sparklines.
    """

    tall = False
    headings = True
    shared_scale = True

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._cached_with: object = None
        self._cached: dict[str, tuple[object, list[Line]]] = {}

    def columns_for(self, longest_name: int) -> Columns:
        """The columns of a row in the width there is."""
        return columns(max(self.width, 20), max(longest_name, HEADING))

    def fit(self, board: Dashboard, room: int) -> int:
        """Choose tall rows and headings where they fit ``room`` lines. Returns the number of lines used."""
        rows = max(len(board.endpoints), 1)
        self.tall = 1 + 2 * rows + len(board.groups) <= room
        self.headings = 1 + rows + len(board.groups) <= room or rows >= room
        return min(room, 1 + rows * (2 if self.tall else 1) + len(board.groups) * self.headings)

    def show(self, board: Dashboard, longest_name: int) -> None:
        """Draw a dashboard. ``longest_name`` of all endpoints, so that a filter does not move the columns."""
        parts = self.columns_for(longest_name)
        shared = scales(board.endpoints) if self.shared_scale else None
        if (parts, shared, self.tall) != self._cached_with:
            self._cached_with = (parts, shared, self.tall)
            self._cached = {}
        lines: list[Line] = []
        for view in board.endpoints:
            if self.headings and (heading := board.groups.get(view.name)):
                lines.append(Line(((f"  {heading}", "group"),)))
            lines.extend(self._row(view, parts, shared, board))
        if not lines:
            lines = [Line(((f"  {NOTHING_MATCHES if board.total else NOTHING_YET}", "hint"),))]
        self.draw(head(parts, shared), lines, board.selected)

    def _row(self, view: EndpointView, parts: Columns, shared: Scales | None, board: Dashboard) -> list[Line]:
        """The lines of one endpoint, made anew only when they would look different."""
        looks = drawn_state(view, parts, board)
        drawn = self._cached.get(view.name)
        if drawn is None or drawn[0] != looks:
            pieces = row(view, parts, shared or scales([view]), board, tall=self.tall)
            drawn = (looks, [Line(tuple(one), view.name) for one in pieces])
            self._cached[view.name] = drawn
        return drawn[1]
