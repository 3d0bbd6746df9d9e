"""``inftop record`` where its line is plainly right: without the parser, which would stay in its memory (10 MB)."""

import gc
from collections.abc import Sequence

from probes.cli.exit_codes import ExitCode
from probes.cli.quick.words import named, parsed_command


def answer(words: Sequence[str]) -> int | None:
    """Record until stopped; the exit code, None where the parser is to read the line.

    Raises what `probes.cli.commands.record` does.
    """
    given = parsed_command(
        words,
        "record",
        {"--for": "for", "--metrics": "metrics"},
        {"--need-store": "need_store"},
    )
    if given is None:
        return None
    from probes.cli.commands.record import record
    from probes.durations import seconds
    from probes.metrics.publishing import Publishing

    lasting = given.values.get("for")
    try:
        lasting_s = None if lasting is None else seconds(lasting)
        config = named(given.values)
        publishing = Publishing.from_options(given.values.get("metrics"), None)
    except ValueError:  # the parser says what is wrong
        return None
    gc.enable()  # it may run for months
    record(config, demo=False, seconds=lasting_s, publishing=publishing, need_store="need_store" in given.flags)
    return ExitCode.OK
