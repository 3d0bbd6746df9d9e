"""A nursery of recorders to be killed: one process with everything imported, one fork for each line of its input.

A line ``path number`` starts a recorder that puts samples, numbered from there, into the store at ``path`` until it is
killed. It says its process id, then of each sample, after `Writer.put`: number, monotonic ns, state of the store. When
it is gone the nursery says ``dead``.
"""

import asyncio
import os
import sys
import time

from probes.store.write.writer import Writer
from tests.samples import sample


def say(*words: object) -> None:
    os.write(1, f"{' '.join(map(str, words))}\n".encode())


async def put_forever(path: str, number: int) -> None:
    writer = Writer(f"sqlite:///{path}")
    while True:
        writer.put(sample(started_at=number, endpoint=f"e{number % 5}", ttft_ms=number / 8), f"answer {number}" * 50)
        say(number, time.monotonic_ns(), writer.status().state)
        number += 1
        await asyncio.sleep(0.004)


for line in sys.stdin:
    path, first = line.rsplit(" ", 1)
    child = os.fork()
    if child == 0:
        say(os.getpid())
        asyncio.run(put_forever(path, int(first)))
    os.waitpid(child, 0)
    say("dead")
