"""RaceTrack: the score of a race, its lanes on one axis of time, where there is room their curve, and the ticks."""

from collections.abc import Sequence
from typing import Final

from tui.race.board import LaneBoard
from tui.race.model import RaceModel
from tui.race.track.curve import LEAST_ROWS, LaneCurve, curve_rows
from tui.race.track.lane_tracks import LEGEND, TrackColumns, columns, lane_rows, tick_row, titles
from tui.race.track.score import heat_mark, score_row
from tui.widgets.plate import Plate, Row

TRACK_ROWS: Final = 2
"""A row of titles above the lanes, and one of ticks below."""


class RaceTrack(Plate):
    """Draws the tracks, as high as they have rows."""

    DEFAULT_CSS = """
    RaceTrack { height: 4; }
    """

    def show(self, model: RaceModel, lanes: Sequence[LaneBoard], curve: int) -> None:
        """Draw the ``lanes``, in their order, with a curve of so many rows, or without one where those are too few."""
        shared = columns([lane.name for lane in lanes], max(self.size.width, 1))
        rows = [_head(model, [lane.name for lane in lanes], shared), *lane_rows(lanes, model.end_ms, shared)]
        if curve >= LEAST_ROWS:
            lines = [
                LaneCurve(slot, model.growth(lane.name), lane.progress.estimated) for slot, lane in enumerate(lanes)
            ]
            rows += curve_rows(lines, model.end_ms, model.top_tokens, shared, curve)
        rows.append(tick_row(model.end_ms, shared))
        self.styles.height = len(rows)
        self.draw(rows)


def _head(model: RaceModel, lanes: Sequence[str], shared: TrackColumns) -> Row:
    """The row above the lanes: the score, what the track's signs mean where there is room, the figures' titles."""
    board, places, samples = model.board, model.places, model.samples
    marks = [heat_mark(places[heat], samples[heat]) for heat in sorted(places)]
    heats = len(marks) if board.phase == "over" or board.request is None else board.request.most_heats
    room = shared.name + shared.axis - 2
    score = score_row(marks, lanes, heats, running=board.phase == "running", width=room)
    used = sum(len(text) for text, _ in score)
    legend = f"{'   ' if score else ''}{LEGEND}"
    legend = legend if used + len(legend) <= room else ""
    return (*score, (legend.ljust(room + 2 - used), "dim"), (titles(shared), "label"))
