"""A progress bar on standard error, where that is a terminal; elsewhere nothing."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much in all; 0 and 0 where that is not known."""


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Show a bar while the block runs; yields the function that advances it."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    import typer  # only now: it takes longer than showing what a store holds

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
