"""OptionChanges: which of the screen's options are changed during a run, and what of that is kept for the next one."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from probes.config.screen import Option
from tui.state.choices import Choices


class OptionState(NamedTuple):
    """An option as it is: its values in order, the one it has ("" for one without a name), and where that is from."""

    option: Option
    values: Sequence[str]
    value: str
    origin: str


class OptionChanges:
    """Compares the options with what they were. ``path`` is the file that keeps them; None: nothing is kept."""

    def __init__(self, choices: Choices, path: Path | None) -> None:
        self._choices = choices
        self._path = path
        self._begun: Mapping[Option, str] = {}
        self._changed: dict[Option, str] = {}
        self._unwritten: dict[Option, str] = {}

    def begin(self, values: Mapping[Option, str]) -> None:
        """The options as the run begins with them."""
        self._begun = values

    def reconfigure(self, choices: Choices) -> None:
        """Go by other choices: the configuration fixes other options now."""
        self._choices = choices

    def note(self, values: Mapping[Option, str]) -> bool:
        """Note which of the options differ from before. Whether something is now to be written that was not before."""
        before = {**self._begun, **self._changed}
        changed = {option: value for option, value in values.items() if value != before.get(option)}
        self._changed |= changed
        kept = {option: value for option, value in changed.items() if self._choices.keeps(option, value)}
        if not kept or self._path is None:
            return False
        had_unwritten = bool(self._unwritten)
        self._unwritten |= kept
        return not had_unwritten

    async def write(self) -> None:
        """Write what is to be kept and is not written yet. Raises OSError."""
        changes = dict(self._unwritten)
        self._unwritten.clear()
        if self._path is not None and changes:
            from tui.state.state_file import keep

            await asyncio.to_thread(keep, self._path, changes)

    def states(self, values: Mapping[Option, str], offered: Mapping[Option, Sequence[str]]) -> list[OptionState]:
        """Every option with the values it can have now, the one it has, and where that comes from."""
        changed = frozenset(self._changed)
        found = []
        for option, each in offered.items():
            value = values.get(option, "")
            origin = self._choices.origin(option, value, changed) if value else "for this run"
            found.append(OptionState(option, each, value, origin))
        return found
