"""``python -m probes run``: the engine of a screen, without the parser, which would stay in its memory (10 MB)."""

import gc
from collections.abc import Sequence

from probes.cli.exit_codes import ExitCode
from probes.cli.quick.words import named, parsed_command


def answer(words: Sequence[str]) -> int | None:
    """Serve one screen until it goes away; the exit code, None where the parser is to read the line.

    Raises ConfigError.
    """
    given = parsed_command(words, "run", {}, {"--demo": "demo", "--races": "races"})
    if given is None:
        return None
    try:
        config = named(given.values)
    except ValueError:  # the parser says what is wrong
        return None
    from probes.cli.commands.run import run

    gc.enable()  # it may run for months
    run(config, demo="demo" in given.flags, watching="races" not in given.flags)
    return ExitCode.OK
