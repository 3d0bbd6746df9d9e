"""Progress: a bar on standard error, where that is a terminal; elsewhere nothing."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much; 0 of 0 where nobody knows, but it goes on."""


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """What shows how far something has come."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    began = time.monotonic()
    with typer.progressbar(length=1, label=label, show_pos=True, file=sys.stderr) as bar:

        def show(done: int, total: int) -> None:
            if total:
                bar.length = total
                bar.update(done - bar.pos)
            else:
                sys.stderr.write(f"\r{label}: {time.monotonic() - began:.0f} s\x1b[K")
                sys.stderr.flush()

        yield show
