"""A ground-truth server in a process of its own, for benchmarks."""

import multiprocessing
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection

from probes.selftest.load import Load
from probes.selftest.pacer import Pacer, Truth


def _serve(loads: Sequence[Load], pipe: Connection, seed: int | None) -> None:
    pacer = Pacer(loads, None, seed)

    def wait() -> None:
        pipe.recv()
        pacer.stop()

    threading.Thread(target=wait, daemon=True).start()
    pipe.send(pacer.urls[0])
    pacer.serve()
    pipe.send(pacer.truths)


@contextmanager
def truth_server(loads: Sequence[Load], told: list[Truth] | None = None, seed: int | None = None) -> Iterator[str]:
    """The address of a server of these loads; at the end ``told`` is given what it knows of every answer.

    Two servers of one ``seed`` let the n-th answer of a model wait for the same time.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(loads, there, seed), daemon=True)
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        here.send("enough")
        truths = here.recv()
        process.join()
        if told is not None:
            told.extend(truths)
