"""Ports of the loopback: one for a program that is told where to listen, and one on which nobody listens."""

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

GIVEN_OUT_FROM: Final = 32_768
"""Systems give out ports from here on to whoever asks for any (Linux; others from 49,152 on)."""


def free_port() -> int:
    """A port that nobody listens on, for a program that will; the system gives it to nobody else meanwhile."""
    for port in random.sample(range(10_000, GIVEN_OUT_FROM), 1_000):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("no port is free")


@contextmanager
def closed_port() -> Iterator[int]:
    """A port that refuses connections: it is taken, so that nobody else gets it, and not listened on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]
