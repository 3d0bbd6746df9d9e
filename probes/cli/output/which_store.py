"""Which store a command goes by, said to a person at a terminal who may have meant another one."""

import sys
from contextlib import suppress
from pathlib import Path

from probes.config.file import ConfigFile, Named, find_config
from probes.store.location import default_url, shown
from probes.store.problem import StoreProblem
from probes.text import line


def say_which_store(url: str, named: Named | Path | None, *, look_here: bool = True) -> None:
    """Say on standard error which store it is and how another is named, if somebody might not expect this one.

    That is any but the default store, and also that one where a ./config.toml is not read (without ``look_here``).
    Nothing is said unless standard output and standard error are both terminals: a prompt or a script asks for an
    answer alone. ``named`` is what the command line names.
    """
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return
    file, here = find_config(named, look_here=look_here), find_config(named)
    passed_over = here.path if here.path != file.path and file.store is None else None
    if words := _words(url, file, passed_over):
        from probes.cli.output.table import print_lines, styled

        print_lines([styled(words, "note")], sys.stderr)


def _words(url: str, file: ConfigFile, passed_over: Path | None) -> str:
    """The line; "" where there is nothing to say."""
    if file.store is not None:
        why = "named by --store; without it that of the configuration is meant"
    elif not _is_default(url):
        why = f"named by [store] of {line(str(file.path), 200)}; --store STORE names another"
    elif passed_over is not None:
        why = "the default"
    else:
        return ""
    another = f"; ./{passed_over} was not read: --config {passed_over} reads its store" if passed_over else ""
    return f"store: {shown(url)}, {why}{another}"


def _is_default(url: str) -> bool:
    with suppress(StoreProblem):  # without a home there is no default
        return url == default_url()
    return False
