"""``inftop history`` where its line is plainly right, for which the parser need not be imported."""

from collections.abc import Sequence

from probes.cli.exit_codes import ExitCode
from probes.cli.quick.words import named, parsed_command


def answer(words: Sequence[str]) -> int | None:
    """Answer a whole command line; its exit code, None where the parser is to read it.

    Its commands, such as ``history check``, are the parser's. Raises ConfigError and StoreProblem.
    """
    given = parsed_command(words, "history", {}, {"--json": "json", "--tables": "tables"})
    if given is None:
        return None
    try:
        config = named(given.values)
    except ValueError:  # the parser says what is wrong
        return None
    from probes.cli.commands.history import history

    history(config, tables="tables" in given.flags, as_json="json" in given.flags)
    return ExitCode.OK
