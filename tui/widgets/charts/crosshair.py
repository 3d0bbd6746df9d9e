"""CrosshairKeys: a screen whose charts are read at one instant, by the mouse or by keys."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the first picture has no chart
    from tui.widgets.charts.chart import Chart

NO_CHART = "There is no chart to read here."


class CrosshairKeys:
    """The crosshair of a `KeyedScreen`: one instant, marked on all charts that are shown."""

    @property
    def _charts(self: Any) -> Sequence["Chart"]:
        # not those that have been laid out by now: the footer is drawn before that
        return [one for one in self.query("Chart") if all(node.display for node in one.ancestors_with_self[:-2])]

    @property
    def crosshair(self) -> int | None:
        """The instant that is read, in ms since the epoch; None while there is none, or none that can be seen."""
        return next((at for one in self._charts if (at := one.crosshair) is not None), None)

    def action_crosshair(self, step: int) -> None:
        """One column earlier (-1) or later (1); at first the newest with a value."""
        instant = next((at for one in self._charts if (at := one.beside(step)) is not None), None)
        if instant is not None:
            self._cross(instant)

    def action_no_crosshair(self) -> None:
        """Read nothing more."""
        self._cross(None)

    def on_chart_pointed(self, event: "Chart.Pointed") -> None:
        """The mouse moved over a chart, or left it."""
        self._cross(event.at)

    def _cross(self: Any, at: int | None) -> None:
        had = self.crosshair is not None
        for one in self._charts:
            one.cross(at)
        if had != (at is not None):
            self.show_keys()

    @property
    def disabled_crosshair_keys(self) -> Mapping[str, str]:
        """Which of the crosshair's keys do nothing now, and why."""
        disabled = {} if self._charts else dict.fromkeys(("crosshair.earlier", "crosshair.later"), NO_CHART)
        return disabled if self.crosshair is not None else {**disabled, "crosshair.off": ""}
