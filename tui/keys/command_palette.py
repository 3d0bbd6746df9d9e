"""Textual's command palette, which outlives a terminal that has no room for its list."""

from contextlib import suppress

from textual.command import CommandPalette


class SafeCommandPalette(CommandPalette):
    """A page up or down in a list of no lines does nothing; Textual's ends the program by a KeyError."""

    def _action_command_list(self, action: str) -> None:
        with suppress(KeyError):
            super()._action_command_list(action)
