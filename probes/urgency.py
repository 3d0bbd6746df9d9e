"""Urgency: how soon the system lets a thread run that has slept and has something to do; Linux."""

import contextlib
import ctypes
import os
import struct
from typing import Final

from probes.syscall import syscall

SLICE_NS: Final = 100_000
"""The shortest that Linux grants (6.12, EEVDF): who asks for little at a time may interrupt who asked for more."""

_SCHED_SETATTR: Final = 314  # x86-64
_ATTRIBUTES: Final = struct.Struct("<IIQiIQQQ")  # sched_attr of sched_setattr(2)


def claim() -> bool:
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
