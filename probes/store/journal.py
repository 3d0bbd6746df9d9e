"""Journal: samples that wait on disk for a database that cannot be reached, oldest first, bounded."""

import json
import os
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Final

from probes.sample import Sample
from probes.store.place import make_private_file, make_private_folder
from probes.store.problem import of_os
from probes.store.sink import Entry, Mark

CAPACITY: Final = 200_000
"""Samples on disk at most, 100 MB or so: 100 endpoints for 33 hours, once a minute each. Then the oldest go."""

BATCH: Final = 2_000
"""Samples in one file at most: it is delivered in one transaction."""

_NAME: Final = re.compile(r"\d{13}-([0-9a-f]{16})-(\d{9})\.jsonl")


@dataclass(slots=True)
class Batch:
    """Entries to be stored together, once; ``path`` is their file, whether it is there yet or not."""

    mark: Mark
    path: Path
    samples: int = 0


class Journal:
    """Files of samples in a private ``folder``, each a batch with a mark of its own, that outlive their process.

    One process at a time uses a folder. ``waiting`` counts the samples that are there, ``dropped`` those that did not
    fit or could not be read back. Methods raise StoreProblem where the disk does not do its part.
    """

    def __init__(self, folder: Path, capacity: int = CAPACITY) -> None:
        self._folder = folder
        self._capacity = capacity
        self._run = token_hex(8)
        self._since = time.time_ns() // 1_000_000
        self._number = 0
        self._open: Batch | None = None
        self._batches: deque[Batch] = deque(_found(folder))
        self._lock = Lock()
        self.dropped = 0

    @property
    def name(self) -> str:
        """The name of all marks that this process makes."""
        return self._run

    @property
    def waiting(self) -> int:
        """How many samples wait."""
        return sum(one.samples for one in list(self._batches))  # a copy: another thread may be at it

    def new(self) -> Batch:
        """A batch that is not on disk yet; it comes after all that were made before."""
        self._number += 1
        name = f"{self._since:013d}-{self._run}-{self._number:09d}.jsonl"  # sorted by process, then by number
        return Batch(Mark(self._run, self._number), self._folder / name)

    def keep(self, entries: Sequence[Entry], batch: Batch | None = None) -> None:
        """Put entries on disk: as that batch where one is named, else beside those that were kept last."""
        with self._lock, _problems():  # at the end of a process two threads may have something to keep
            self._keep(entries, batch)

    def _keep(self, entries: Sequence[Entry], batch: Batch | None) -> None:
        last, self._open = self._open, None
        goes_on = batch is None
        if batch is None:
            batch = last if last and last.samples < BATCH else self.new()
        text = "".join(f"{json.dumps({'sample': one.sample.to_json(), 'answer': one.answer})}\n" for one in entries)
        make_private_folder(self._folder)
        make_private_file(batch.path)
        _append(batch.path, text)
        if goes_on:  # only now: one that failed may be overtaken by a later mark
            self._open = batch
        if not batch.samples:
            self._batches.append(batch)
        batch.samples += len(entries)
        while len(self._batches) > 1 and self.waiting > self._capacity:
            self.dropped += self._batches[0].samples
            self.done(self._batches[0])

    def first(self) -> tuple[Batch, list[Entry]] | None:
        """The oldest batch, to which nothing is added any more; None where nothing waits."""
        if not self._batches:
            return None
        batch = self._batches[0]
        if batch is self._open:
            self._open = None
        with _problems():
            lines = batch.path.read_bytes().splitlines()
        entries = []
        for one in lines:
            with suppress(ValueError, TypeError, KeyError):  # torn by a power cut
                record = json.loads(one)
                entries.append(Entry(Sample.from_json(record["sample"]), record["answer"]))
        self.dropped += batch.samples - len(entries)
        batch.samples = len(entries)
        return batch, entries

    def done(self, batch: Batch) -> None:
        """Forget a batch: it is stored."""
        with _problems():
            batch.path.unlink(missing_ok=True)
        if batch is self._open:
            self._open = None
        self._batches.remove(batch)


def _append(path: Path, text: str) -> None:
    """Put text at the end of a file; all of it or nothing, for whoever failed will come again with the same."""
    size = path.stat().st_size
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        os.truncate(path, size)
        raise


def _found(folder: Path) -> list[Batch]:
    """The batches that earlier processes left, oldest first; none where the folder cannot be read."""
    try:
        names = {path: name for path in sorted(folder.iterdir()) if (name := _NAME.fullmatch(path.name))}
        return [
            Batch(Mark(name[1], int(name[2])), path, path.read_bytes().count(b"\n")) for path, name in names.items()
        ]
    except OSError:
        return []


@contextmanager
def _problems() -> Iterator[None]:
    """Raise StoreProblem in place of what the file system raises."""
    try:
        yield
    except OSError as error:
        raise of_os(error) from error
