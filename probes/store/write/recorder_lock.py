"""A file lock that lets one process record into a store. The kernel frees it when that process dies, however."""

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from probes import typed_json
from probes.files import make_private_folder, write
from probes.store.holder import Holder, StoreHeld, this_process
from probes.store.problem import of_os
from probes.text import line


class RecorderLock:
    """The lock of the store at ``path``, as a context manager; taken at once or not at all.

    Entering raises StoreHeld where another recorder has it, StoreProblem where the lock cannot be made. Two small
    files stand beside the store, for their owner alone: the lock, and who holds it.
    """

    def __init__(self, path: Path, holder: Holder | None = None) -> None:
        self._path = path
        self._lock = FileLock(f"{path}.lock", timeout=0, mode=0o600, thread_local=False)
        self._holder = path.with_name(f"{path.name}.holder")
        self._me = holder or this_process()
        self._closed = False

    def __enter__(self) -> Self:
        self.check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self) -> None:
        """Take the lock where it is not ours yet. Raises as entering does."""
        if self._lock.is_locked:
            return
        try:
            make_private_folder(self._path.parent)
            self._lock.acquire()
        except Timeout:
            raise StoreHeld(self._read_holder()) from None
        except OSError as error:
            raise of_os(error) from error
        self._name_holder()
        if self._closed:
            self._let_go()

    def close(self) -> None:
        """Let the lock go for good; also while another thread is at `check`."""
        self._closed = True
        self._let_go()

    def _let_go(self) -> None:
        if self._lock.is_locked:
            with suppress(OSError):  # a name left behind says nothing once the lock is free
                self._holder.unlink()
            self._lock.release()

    def _name_holder(self) -> None:
        """Write who holds the lock, in one step: another process never reads half a name.

        On a full disk nothing is written: the lock holds all the same, but the name of an older holder is removed.
        """
        try:
            write(self._holder, json.dumps(asdict(self._me)))
        except OSError:
            with suppress(OSError):
                self._holder.unlink()

    def _read_holder(self) -> Holder | None:
        try:
            return holder_of(self._holder.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None


def holder_of(text: str) -> Holder | None:
    """Who that JSON names; None where it names nobody."""
    try:
        record = typed_json.loads(text)
        return Holder(int(record["pid"]), line(str(record["host"]), 100), int(record["since"]))
    except (ValueError, TypeError, KeyError):
        return None
