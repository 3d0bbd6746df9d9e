"""``inftop check`` where its line is plainly right, for which the parser need not be imported."""

from collections.abc import Sequence
from pathlib import Path

from probes.cli.exit_codes import ExitCode
from probes.cli.quick.words import parsed


def answer(words: Sequence[str]) -> int | None:
    """Answer a whole command line; its exit code, None where the parser is to read it. Raises ConfigError."""
    if "check" not in words:
        return None
    place = words.index("check")
    before, after = (
        parsed(words[:place], {"--config": "config"}, {}),
        parsed(words[place + 1 :], {}, {"--json": "json"}),
    )
    if before is None or after is None or before.arguments or after.arguments:
        return None
    from probes.cli.commands.check.check import check

    named = before.values.get("config")
    if named == "":
        return None
    check(None if named is None else Path(named), as_json="json" in after.flags)
    return ExitCode.OK
