"""What this process or machine has run out of, where an error says so."""

import errno
import os
from typing import Final

_OF_NUMBERS: Final = {
    errno.EMFILE: "out of file descriptors",
    errno.ENFILE: "this machine is out of file descriptors",
    errno.ENOMEM: "out of memory",
    errno.ENOBUFS: "this machine is out of network buffers",
    errno.EADDRNOTAVAIL: "no local address or port is left",
    errno.ENOTRECOVERABLE: "the thread in whose name the kernel reads has ended",
}
"""Errors that say what this machine or process lacks (errno(3), connect(2), socket(2)); the last is only our own."""

_OF_WORDS: Final = {
    "can't start new thread": "no thread can be started: out of memory, or of the threads that this user may have",
    "cannot allocate memory": "out of memory",
    "failed to map segment": "out of memory",
    "too many open files": "out of file descriptors",
    "error return without exception set": "out of memory, as it seems: a library failed without a word",
    "without setting an exception": "out of memory, as it seems: a library failed without a word",
}
"""What threading, dlopen(3) and Python's own calls of C code say, who have no error of their own for it."""

_FREE: Final = 4
"""Descriptors that a resolver may need at once: a file, a socket for each family, one to ask for addresses."""


def missing_resource(error: BaseException | None) -> str | None:
    """The resource that this process or machine lacked; None where the error says nothing of the kind."""
    match error:
        case MemoryError():
            return "out of memory"
        case OSError():
            return _OF_NUMBERS.get(error.errno or 0)
        case RuntimeError() | ImportError() | SystemError():
            said = str(error).lower()
            return next((meant for words, meant in _OF_WORDS.items() if words in said), None)
    return None


def missing_behind(error: BaseException | None) -> str | None:
    """The same, where this error or one that it was raised from, or while handling, says so."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if missing := missing_resource(error):
            return missing
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def out_of_descriptors() -> bool:
    """Whether something that has just failed had no descriptors: resolvers and SQLite do not say so themselves."""
    held: list[int] = []
    try:
        for _ in range(_FREE):
            held.append(os.open(os.devnull, os.O_RDONLY))  # noqa: PERF401  # what is held must be known where one fails
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    else:
        return False
    finally:
        for one in held:
            os.close(one)
