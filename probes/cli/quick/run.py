"""Runs a quick command where its line is plainly right; every other line is the parser's."""

import gc
import sys
from collections.abc import Sequence

from probes.cli.exit_codes import exit_code_of, message_of


def answered(words: Sequence[str]) -> bool:
    """Answer a line of ``best`` or ``status``, and leave with its exit code; False where the parser is to read it."""
    gc.disable()  # a process of a twentieth of a second makes no garbage worth a look
    try:
        if words[0] == "best":
            from probes.cli.quick.best import answer
        else:
            from probes.cli.quick.status import answer

        code = answer(words[1:])
    except Exception as error:
        found = exit_code_of(error)
        if found is None:
            raise
        print(message_of(error), file=sys.stderr)  # noqa: T201
        sys.exit(found)
    finally:
        gc.enable()  # where the parser is to read it, a long run may follow
    if code:
        sys.exit(code)
    return code is not None
