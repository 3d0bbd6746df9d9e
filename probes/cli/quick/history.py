"""``inftop history`` where its line is plainly right, for which the parser need not be imported."""

from collections.abc import Sequence
from pathlib import Path

from probes.cli.exit_codes import ExitCode
from probes.cli.quick.words import parsed


def answer(words: Sequence[str]) -> int | None:
    """Answer a whole command line; its exit code, None where the parser is to read it.

    Its commands, such as ``history check``, are the parser's. Raises ConfigError and StoreProblem.
    """
    place = words.index("history")
    before = parsed(words[:place], {"--config": "config"}, {})
    after = parsed(words[place + 1 :], {}, {"--json": "json", "--tables": "tables"})
    if before is None or after is None or before.arguments or after.arguments or before.values.get("config") == "":
        return None
    from probes.cli.commands.history import history

    config = before.values.get("config")
    path = None if config is None else Path(config)
    history(path, tables="tables" in after.flags, as_json="json" in after.flags)
    return ExitCode.OK
