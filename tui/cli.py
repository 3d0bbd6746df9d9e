"""The command line's entry: bare commands go straight to the screen, quick ones to the store, others to the parser."""

import sys
from typing import Final

from probes.cli import entry

QUICK: Final = ("best", "status")
"""The first words of command lines that are answered, where they are plainly right, without the parser."""


def main() -> None:
    """Run ``inftop``, and leave with an exit code of `probes.cli.exit_codes`."""
    entry.run(_main)


def _main() -> None:
    """The two bare commands, or the parser.

    ``inftop`` and ``inftop demo`` alone need no parser: importing it would take a sixth of the time to the first
    picture. Where it cannot begin the parser's way says so. A shell that asks for completions gives no words either.
    """
    words = sys.argv[1:]
    if words and words[0] in QUICK and not entry.asked_for_completions():
        from probes.cli.quick.run import answered

        if answered(words):
            return
    if words in ([], ["demo"]) and not entry.asked_for_completions():
        from probes.config_error import ConfigError
        from probes.store.problem import StoreProblem
        from tui.launch import bare

        try:
            bare(demo=bool(words))
        except (ConfigError, StoreProblem):
            pass
        else:
            return
    from tui.commands import run

    run()
