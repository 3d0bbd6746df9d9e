"""Syscall: system calls of Linux that the C library has no function for."""

import contextlib
import ctypes
import os
import struct
import threading
from typing import Any, Final

SLICE_NS: Final = 100_000
"""The shortest that Linux grants (6.12, EEVDF): who asks for little at a time may interrupt who asked for more."""

_SCHED_SETATTR: Final = 314  # x86-64
_ATTRIBUTES: Final = struct.Struct("<IIQiIQQQ")  # sched_attr of sched_setattr(2)


def request_realtime_priority() -> bool:
    """Have this thread run at once whenever it wakes; whether that is granted: ``RLIMIT_RTPRIO``, CAP_SYS_NICE.

    Else it asks for turns that are short, as everybody may. A thread that runs for long must not do this.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        wish = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_OTHER, 0, nice, 0, SLICE_NS, 0, 0)
        memory = ctypes.create_string_buffer(wish)
        with contextlib.suppress(OSError):
            syscall(_SCHED_SETATTR, 0, ctypes.addressof(memory), 0)
        return False
    return True


class RunQueue:
    """How long a thread of this process has been ready to run and did not, for want of a processor.

    ``schedstat`` of a thread holds nanoseconds on a processor, nanoseconds waiting for one, and turns (Linux,
    Documentation/scheduler/sched-stats.rst). Where there is no such file nothing is known and 0 is told.
    """

    def __init__(self, thread: int | None = None) -> None:
        thread = threading.get_native_id() if thread is None else thread
        try:
            self._file = os.open(f"/proc/self/task/{thread}/schedstat", os.O_RDONLY)
        except OSError:
            self._file = -1

    def waited_ns(self) -> int:
        """In all, so far."""
        try:
            return int(os.pread(self._file, 64, 0).split()[1]) if self._file >= 0 else 0
        except (OSError, IndexError, ValueError):
            return 0

    def close(self) -> None:
        """Ask no more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def syscall(number: int, *values: int) -> int:
    """Make one; addresses are numbers, too. Raises OSError."""
    call: Any = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    result: int = call(*map(ctypes.c_long, (number, *values)))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
