"""``python -m probes run``: the engine of a screen, without the parser, which would stay in its memory (10 MB)."""

import gc
from collections.abc import Sequence
from pathlib import Path

from probes.cli.exit_codes import ExitCode
from probes.cli.quick.words import parsed_command


def answer(words: Sequence[str]) -> int | None:
    """Serve one screen until it goes away; the exit code, None where the parser is to read the line.

    Raises ConfigError.
    """
    given = parsed_command(words, "run", {}, {"--demo": "demo", "--races": "races"})
    if given is None:
        return None
    from probes.cli.commands.run import run

    gc.enable()  # it may run for months
    config = given.values.get("config")
    run(None if config is None else Path(config), demo="demo" in given.flags, watching="races" not in given.flags)
    return ExitCode.OK
