"""Where the user's configuration, data and state are; not every user has a home."""

from pathlib import Path
from typing import Final

_NAME: Final = "inftop"


def config_folder() -> Path | None:
    """The folder of the user's configuration; None where the user has no home and nothing names another place."""
    import platformdirs  # here: it takes its time, and most questions name their files

    try:
        return platformdirs.user_config_path(_NAME, appauthor=False)
    except RuntimeError:  # neither $HOME nor an entry in the password database
        return None


def data_folder() -> Path | None:
    """The folder of the user's data; None where the user has no home and nothing names another place."""
    import platformdirs  # here: it takes its time, and most questions name their files

    try:
        return platformdirs.user_data_path(_NAME, appauthor=False)
    except RuntimeError:
        return None


def state_folder() -> Path | None:
    """The folder of what is remembered from run to run; None where the user has no home and nothing names a place."""
    import platformdirs  # here: it takes its time, and most questions name their files

    try:
        return platformdirs.user_state_path(_NAME, appauthor=False)
    except RuntimeError:
        return None


def from_home(path: Path) -> Path:
    """The path with the home for its ``~``. Raises ValueError where that user has none."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("a path begins with ~, and there is no home folder: set HOME") from None


def shown_path(path: Path) -> str:
    """Return the path as it is shown, with ``~`` for the home folder."""
    try:
        return f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(path)
