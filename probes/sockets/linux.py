"""What Linux offers a thread that must run at once: raw system calls, real-time priority, its time without a processor.

Elsewhere, and where it is not allowed, each says so and nothing else changes.
"""

import contextlib
import ctypes
import os
import struct
import threading
from typing import Any, Final

SLICE_NS: Final = 100_000
"""The shortest slice that Linux grants (6.12, EEVDF): who asks for less at a time may interrupt who asked for more."""

_SCHED_SETATTR: Final = 314  # x86-64
_ATTRIBUTES: Final = struct.Struct("<IIQiIQQQ")  # sched_attr of sched_setattr(2)


def syscall(number: int, *values: int) -> int:
    """Make a system call that the C library has no function for; addresses are numbers, too. Raises OSError."""
    call: Any = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    result: int = call(*map(ctypes.c_long, (number, *values)))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def request_realtime_priority() -> bool:
    """Request real-time priority (SCHED_RR) for the current thread; whether it was granted.

    That takes ``RLIMIT_RTPRIO`` or CAP_SYS_NICE. Without, the thread requests the shortest time slice instead, as
    everybody may (sched_setattr(2)). A thread that computes for long must not do this: others would not run.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_OTHER, 0, nice, 0, SLICE_NS, 0, 0)
        memory = ctypes.create_string_buffer(attributes)
        with contextlib.suppress(OSError):
            syscall(_SCHED_SETATTR, 0, ctypes.addressof(memory), 0)
        return False
    return True


class RunQueue:
    """How long a thread of this process, by default the current one, has been ready to run without a processor.

    ``schedstat`` of a thread holds nanoseconds on a processor, nanoseconds waiting for one, and turns (Linux,
    Documentation/scheduler/sched-stats.rst). Where there is no such file `waited_ns` is always 0.
    """

    def __init__(self, thread: int | None = None) -> None:
        thread = threading.get_native_id() if thread is None else thread
        try:
            self._file = os.open(f"/proc/self/task/{thread}/schedstat", os.O_RDONLY)
        except OSError:
            self._file = -1

    def waited_ns(self) -> int:
        """Nanoseconds in all since the thread began."""
        try:
            return int(os.pread(self._file, 64, 0).split()[1]) if self._file >= 0 else 0
        except (OSError, IndexError, ValueError):
            return 0

    def close(self) -> None:
        """Close the file; `waited_ns` is 0 after that."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
