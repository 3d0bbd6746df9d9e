"""What can befall a store while it is recorded into: one row a fault, how it is made, and what is said of it."""

import ctypes
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.store.stores import PATIENCE_S, other

AT_FDCWD = -100
RENAME_EXCHANGE = 2


@dataclass(frozen=True)
class StoreFault:
    """One row: ``holding`` spoils the store for as long as its context lasts; ``says`` is what the recorder must say.

    ``lasts`` is false where the fault is over at once (a file that was deleted): nothing has to wait then.
    """

    name: str
    holding: Callable[[Path], AbstractContextManager[None]]
    says: str
    lasts: bool = True


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program holds the store locked."""
    with other(path) as connection:
        connection.execute("PRAGMA busy_timeout = 60000")
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


@contextmanager
def full(path: Path) -> Iterator[None]:
    """The store's disk is full: the folder must be a small file system, see `small_disk`."""
    filler = path.parent / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    yield
    filler.unlink()


@contextmanager
def away(path: Path) -> Iterator[None]:
    """The store's folder is moved away, and a file is in its place; then it is back as it was."""
    aside = path.parent.with_name("aside")
    aside.write_text("not a folder")
    _exchange(path.parent, aside)
    yield
    _exchange(path.parent, aside)


@contextmanager
def deleted(path: Path) -> Iterator[None]:
    """The store is deleted."""
    for one in (path, *path.parent.glob(f"{path.name}-*")):
        one.unlink()
    yield


@contextmanager
def replaced(path: Path) -> Iterator[None]:
    """The store is replaced by an empty file."""
    new = path.with_name("new")
    new.touch(mode=0o600)
    for one in path.parent.glob(f"{path.name}-*"):
        one.unlink()
    new.replace(path)
    yield


PASSING = (
    StoreFault("locked", locked, "locked"),
    StoreFault("full", full, "no space left"),
    StoreFault("away", away, "is not a folder"),
    StoreFault("deleted", deleted, "a new store was begun", lasts=False),
    StoreFault("replaced", replaced, "a new store was begun", lasts=False),
)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 4 MiB at ``folder``; skips the test where this user may mount none."""
    folder.mkdir(parents=True)
    if os.name == "nt" or _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder), check=False):
        pytest.skip("this user may mount no file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _exchange(one: Path, other: Path) -> None:
    """Swap two names in one step, so that nobody finds neither there (renameat2(2)); else the test is skipped."""
    libc = ctypes.CDLL(None, use_errno=True)
    swap = getattr(libc, "renameat2", None)
    if swap is None or swap(AT_FDCWD, bytes(one), AT_FDCWD, bytes(other), RENAME_EXCHANGE):
        pytest.skip(f"two files cannot be exchanged here: {os.strerror(ctypes.get_errno())}")


def _mount(*words: str, check: bool = True) -> int:
    return subprocess.run(["mount", *words], check=check, stderr=subprocess.DEVNULL).returncode


def stored(path: Path) -> list[tuple]:
    """Endpoint, start and outcome of every sample in a store; none where there is no store."""
    if not path.exists() or not path.stat().st_size:
        return []
    with sqlite3.connect(path, timeout=PATIENCE_S) as connection:
        try:
            return connection.execute("SELECT endpoint, started_at, ttft_ms, outcome FROM samples").fetchall()
        except sqlite3.OperationalError:
            return []
