"""What a process logs: warnings and worse, on standard error; of what the machine lacked words, of a defect all."""

import logging
from types import TracebackType
from typing import Final

from probes.resources import missing_behind

_FORMAT: Final = "%(levelname)s %(name)s: %(message)s"

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def log_to_standard_error() -> None:
    """Have warnings and errors of this process told on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter(_FORMAT))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


class _Formatter(logging.Formatter):
    """Says what was lacking in place of the traceback of who met it."""

    def formatException(self, ei: _Raised) -> str:  # noqa: N802  # logging's name
        """The text of an exception."""
        return missing_behind(ei[1]) or super().formatException(ei)
