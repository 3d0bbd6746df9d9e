"""AddFlow: what the steps of adding endpoints share: who asks, which file is written, what is to happen then."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from probes.config.edit.endpoints import with_endpoints
from probes.config.edit.file import EditableConfig, open_for_edit, save
from probes.config.file import ConfigFile
from probes.config.load import load
from probes.config.toml_file import parse_text
from probes.keys.secret import Secret
from tui.screens.off_loop import off_loop
from tui.sources.own_commands import OwnCommands


class Added(NamedTuple):
    """The names of the endpoints that were written, and the file that has them."""

    names: tuple[str, ...]
    path: Path


def why_unwritten(error: Exception) -> str:
    """Why a file was not written, in words for the screen."""
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)


@dataclass(frozen=True, slots=True)
class AddFlow:
    """``commands`` asks for models and probes. ``config`` finds the configuration in effect.

    ``watched`` gives the names of the endpoints that are watched now: they stay where a user's own file takes the place
    of the shipped one. ``finished`` is called once the file is written. ``use_for_this_run`` has a key used where there
    is no keyring to keep it; None where that cannot be.
    """

    commands: OwnCommands
    config: Callable[[], ConfigFile]
    watched: Callable[[], Sequence[str]]
    finished: Callable[[Added], Awaitable[None]]
    use_for_this_run: Callable[[str, Secret], None] | None = None

    async def open(self) -> EditableConfig:
        """The file that endpoints are written to. Raises ConfigError."""
        watched = frozenset(self.watched())

        def read() -> EditableConfig:
            file = self.config()
            shipped = load(file).endpoints if file.found == "shipped" else ()
            editable = open_for_edit(file, tuple(one.name for one in shipped if one.name in watched))
            parse_text(editable.text, editable.path)
            return editable

        return await off_loop(read)

    async def write(self, editable: EditableConfig, endpoints: Sequence[Mapping[str, Any]]) -> None:
        """Write endpoints to the file. Raises ConfigError, ChangedMeanwhile and OSError; then nothing is written."""

        def add() -> None:
            save(editable, with_endpoints(editable.text, endpoints))

        await off_loop(add)
        await self.finished(Added(tuple(str(one["name"]) for one in endpoints), editable.path))
