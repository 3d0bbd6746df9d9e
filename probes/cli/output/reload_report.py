"""What became of a changed configuration file, in lines for a person."""

from typing import Final

from probes.feed.messages import ConfigurationStatus
from probes.text import line

NAMES_LIMIT: Final = 400
"""Characters of the endpoints' names that are listed."""


def change_words(status: ConfigurationStatus) -> str:
    """What changed last: ``added a, b; removed c; changed [budget]``."""
    kinds = (
        ("added", status.added),
        ("removed", status.removed),
        ("changed", (*status.changed, *status.settings)),
    )
    return "; ".join(f"{word} {line(', '.join(names), NAMES_LIMIT)}" for word, names in kinds if names)


def restart_words(status: ConfigurationStatus) -> str:
    """What was changed and takes a restart; empty where nothing was."""
    return f"takes a restart of the recorder: {', '.join(status.restart)}" if status.restart else ""


class ReloadReport:
    """Says what is new in the status of a configuration, each thing once."""

    def __init__(self) -> None:
        self._before: ConfigurationStatus | None = None

    def update(self, status: ConfigurationStatus) -> list[str]:
        """The lines to print, from this status on."""
        before, self._before = self._before, status
        said = []
        if status.problem is not None and (before is None or status.problem != before.problem):
            said.append(f"{status.problem} (the last good configuration stays)")
        if status.problem is None and before is not None and before.problem is not None:
            said.append("in order again")
        if status.changed_at is not None and (before is None or status.changed_at != before.changed_at):
            said.append(change_words(status))
        if status.restart and (before is None or status.restart != before.restart):
            said.append(restart_words(status))
        return [f"{line(status.path, NAMES_LIMIT)}: {one}" for one in said]
