"""``python -m probes run``: the engine of a screen, without the parser, which would stay in its memory (10 MB)."""

import gc
from collections.abc import Sequence
from pathlib import Path

from probes.cli.exit_codes import ExitCode
from probes.cli.quick.words import parsed


def answer(words: Sequence[str]) -> int | None:
    """Serve one screen until it goes away; the exit code, None where the parser is to read the line.

    Raises ConfigError.
    """
    place = words.index("run")
    before = parsed(words[:place], {"--config": "config"}, {})
    after = parsed(words[place + 1 :], {}, {"--demo": "demo", "--races": "races"})
    if before is None or after is None or before.arguments or after.arguments or before.values.get("config") == "":
        return None
    from probes.cli.commands.run import run

    gc.enable()  # it may run for months
    config = before.values.get("config")
    run(None if config is None else Path(config), demo="demo" in after.flags, watching="races" not in after.flags)
    return ExitCode.OK
