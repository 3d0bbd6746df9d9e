"""Syscall: system calls of Linux that the C library has no function for."""

import ctypes
import os
from typing import Any


def syscall(number: int, *values: int) -> int:
    """Make one; addresses are numbers, too. Raises OSError."""
    call: Any = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    result: int = call(*map(ctypes.c_long, (number, *values)))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
