"""``inftop check`` where its line is plainly right, for which the parser need not be imported."""

from collections.abc import Sequence

from probes.cli.exit_codes import ExitCode
from probes.cli.quick.words import named, parsed_command


def answer(words: Sequence[str]) -> int | None:
    """Answer a whole command line; its exit code, None where the parser is to read it. Raises ConfigError."""
    given = parsed_command(words, "check", {}, {"--json": "json"})
    if given is None:
        return None
    try:
        config = named(given.values)
    except ValueError:  # the parser says what is wrong
        return None
    from probes.cli.commands.check.check import check

    check(config, as_json="json" in given.flags)
    return ExitCode.OK
