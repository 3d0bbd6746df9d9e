"""Progress: a bar on standard error, where that is a terminal; elsewhere nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """What shows how far something has come."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    with typer.progressbar(length=1, label=label, show_pos=True, file=sys.stderr) as bar:

        def show(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield show
