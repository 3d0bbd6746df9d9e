"""Textual's command palette, which outlives a terminal that has no room for its list, and closes once."""

from textual.command import CommandList, CommandPalette

from tui.screens.page import Page


class SafeCommandPalette(CommandPalette, Page[None]):
    """A key that goes through the list does nothing while no line of it is shown; Textual's raises a KeyError."""

    DEFAULT_CSS = "SafeCommandPalette > Vertical { min-width: 20; }"

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
