"""ViewOptionsScreen: a screen with keys that change what the dashboard shows and how: order, groups, filter, view."""

from dataclasses import replace
from typing import Any

from textual import on
from textual.reactive import reactive

from tui.dashboard.engine_commands import EngineCommandScreen
from tui.state.ranking import RANKS
from tui.state.view_options import GROUPS, SORTS, ViewOptions, next_of
from tui.widgets.grid import Grid


class ViewOptionsScreen(EngineCommandScreen):
    """A subclass draws what ``options`` say in `draw`, and in `choose` also puts other panels in place for them."""

    options: reactive[ViewOptions] = reactive(ViewOptions(), init=False, repaint=False)
    """What a person chose to see; whoever keeps it for the next run watches it."""

    def draw(self) -> None:
        """Draw with the options as they are."""
        raise NotImplementedError

    async def choose(self, options: ViewOptions) -> None:
        """Take these options, put the panels they want in place, and draw."""
        raise NotImplementedError

    def change_options(self, **changes: Any) -> None:
        """Change the options and draw at once: a key that is answered late seems broken."""
        self.options = replace(self.options, **changes)
        self.draw()

    def action_vantage(self) -> None:
        """All places together, then each by itself."""
        self.change_options(vantage=next_of((None, *self.fleet.vantages), self.options.vantage))

    def action_sort(self, step: int) -> None:
        """Sort, or in the group view rank, by another figure."""
        if self.options.ranked:
            self.change_options(rank=next_of(RANKS, self.options.rank, step))
        else:
            self.change_options(sort=next_of(SORTS, self.options.sort, step))

    async def action_group(self) -> None:
        """Endpoints of the same model under a heading, then side by side, then not together."""
        changed = replace(self.options, groups=next_of(GROUPS, self.options.groups))
        await self.choose(replace(changed, view="fleet") if changed.ranked else changed)

    def action_scale(self) -> None:
        """One scale for a column, or one for each row."""
        self.change_options(shared_scale=not self.options.shared_scale)

    def action_answer(self) -> None:
        """Show the text of the last answer in the detail, or hide it."""
        self.change_options(detail="open" if self.options.detail == "answer" else "answer")

    def action_detail(self) -> None:
        """Fold the detail to its title, or open it again."""
        self.change_options(detail="open" if self.options.detail == "folded" else "folded")

    @on(Grid.TitleClicked)
    def _title_clicked(self, event: Grid.TitleClicked) -> None:
        """Sort by that column, or in the group view rank by it; by the same again: as configured."""
        if self.options.ranked:
            self.change_options(rank=event.name)
        else:
            self.change_options(sort="configured" if event.name == self.options.sort else event.name)

    async def action_view(self) -> None:
        """Four large panels in the place of fleet and detail, or back."""
        await self.choose(replace(self.options, view="panels" if self.options.view == "fleet" else "fleet"))

    async def action_wall(self) -> None:
        """States in large letters and nothing else, or back."""
        await self.choose(replace(self.options, view="fleet" if self.options.view == "wall" else "wall"))

    def action_clear(self) -> None:
        """No filter."""
        self.change_options(query="")

    def on_filter_line_typed(self, event: Any) -> None:
        """The filter as it is being typed."""
        self.change_options(query=event.query)
