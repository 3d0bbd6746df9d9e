"""Uring: io_uring, as far as it reads sockets: the kernel takes what arrives in the moment it does, unasked.

A multishot ``recvmsg`` is asked for once and answered for every arrival, each with the kernel's stamp, into memory
that this process shares with the kernel (io_uring(7), io_uring_prep_recvmsg_multishot(3),
io_uring_register_buf_ring(3); Linux 6.0). There is no system call, no Python and no lock of Python's for a read.
"""

import ctypes
import errno
import mmap
import os
import platform
import socket
import struct
import sys
import threading
from typing import Final, NamedTuple

from probes.sockets.linux import syscall

BUFFER_SIZE: Final = 1_024
"""Bytes of a buffer, its header included."""

BUFFER_COUNT: Final = 4_096
"""A power of 2. When all are full the kernel keeps the data, and ends what reads with ENOBUFS."""

_SUBMISSIONS: Final = 64
MAX_COMPLETIONS: Final = 256
"""Arrivals that are taken at once: a quarter of a megabyte."""

_WRAP: Final = 0xFFFFFFFF
"""Of what is counted in 32 bits."""

_COMPLETIONS: Final = 2 * BUFFER_COUNT
"""More than there are buffers, so that no completion of theirs is ever without a place."""

_SETUP, _ENTER, _REGISTER = 425, 426, 427  # the same on every architecture (asm-generic/unistd.h)
_REGISTER_EVENTFD, _REGISTER_BUFFERS = 4, 22
_SIZED = 1 << 3  # IORING_SETUP_CQSIZE
_ENTRIES_AT = 0x10000000  # IORING_OFF_SQES
_RECVMSG, _CANCEL = 10, 14
_SELECT_BUFFER = 1 << 5
_MULTISHOT = 1 << 1
_BUFFERED, _MORE = 1, 2  # of a completion's flags
_SILENT = 1  # IORING_CQ_EVENTFD_DISABLED

_ENTRY: Final = struct.Struct("<BBHiQQIIQHH20x")
_COMPLETION: Final = struct.Struct("<QiI")
_HEADER: Final = struct.Struct("<IIII Q ii qq")
"""``io_uring_recvmsg_out``, then one control message with a timespec."""

_CONTROL: Final = 32

DATA_SIZE: Final = BUFFER_SIZE - _HEADER.size
"""Bytes of data in a full buffer: the most that one arrival brings."""

_PLACE: Final = struct.Struct("<QIH")  # the ring's own tail lies behind the first of them
_MESSAGE: Final = struct.pack("<QI4xQQQQi4x", 0, 0, 0, 0, 0, _CONTROL, 0)

_STAMP_KINDS: Final = (35, 64)
"""``SO_TIMESTAMPNS_OLD`` and ``_NEW``."""


class Completion(NamedTuple):
    """What one completion says: of whose reading, the data, and the wall clock's ns at which its last byte came.

    ``error`` is an errno, 0 for none; without data and without one, the other side has ended. ``more``: the reading
    goes on.
    """

    tag: int
    data: bytes
    wall_ns: int | None
    error: int
    more: bool


class Uring:
    """One ring with its buffers. Raises OSError where this system has no such thing.

    `receive` and `cancel` belong to one thread, and the kernel reads in that thread's name and priority; all else
    belongs to one other. Numbers that are shared with the kernel are read and written whole, and in the order of the
    program: that needs no barriers on x86-64, and Python has none to offer elsewhere.
    """

    def __init__(self) -> None:
        if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
            raise OSError(errno.ENOSYS, "no io_uring here")
        self._submitted = self._seen = self._given = 0
        parameters = (ctypes.c_uint32 * 30)()
        parameters[1], parameters[2] = _COMPLETIONS, _SIZED
        self._file = syscall(_SETUP, _SUBMISSIONS, ctypes.addressof(parameters))
        try:
            self._map(list(parameters))
            self._give_buffers()
            self.bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        except BaseException:
            os.close(self._file)
            raise
        try:
            number = ctypes.c_int(self.bell)
            syscall(_REGISTER, self._file, _REGISTER_EVENTFD, ctypes.addressof(number), 1)
            self._try()
        except BaseException:
            self.close()
            raise

    def receive(self, tag: int, file: int) -> None:
        """Read a socket from now on. Raises OSError."""
        address = ctypes.addressof(self._message)
        self._submit(_ENTRY.pack(_RECVMSG, _SELECT_BUFFER, _MULTISHOT, file, 0, address, 1, 0, tag, 0, 0))

    def cancel(self, tag: int) -> None:
        """Read it no more; its last arrival says so. Raises OSError."""
        self._submit(_ENTRY.pack(_CANCEL, 0, 0, -1, 0, tag, 0, 0, 0, 0, 0))

    @property
    def waiting(self) -> int:
        """How many arrivals there are to be taken."""
        return (self._words[self._completions_end] - self._seen) & _WRAP

    def arrivals(self) -> list[Completion]:
        """What has come since the last time, in its order: `MAX_COMPLETIONS` of it, and the others the next time."""
        if not (count := min(self.waiting, MAX_COMPLETIONS)):
            return []
        end = (self._seen + count) & _WRAP
        found = [self._arrival(place) for place in range(self._seen, self._seen + count)]
        self._seen = end
        self._shared_tail[0] = self._given
        self._words[self._completions_begin] = end
        return [one for one in found if one.tag]

    def mute(self, silent: bool) -> None:
        """Whether arrivals ring the ``bell``, an eventfd. One may have come unrung before it rings again."""
        self._words[self._completions_flags] = _SILENT if silent else 0
        with self._fence:  # an atomic operation: what is read after this was not read before it
            pass

    def close(self) -> None:
        """Read nothing any more. The thread that read must have ended."""
        for view in (self._words, self._view, self._shared_tail):
            view.release()
        for memory in (self._rings, self._entries, self._memory, self._places):
            memory.close()
        os.close(self.bell)
        os.close(self._file)

    def _map(self, told: list[int]) -> None:
        """Find the parts of the rings: see ``io_uring_params`` of linux/io_uring.h."""
        self._submission_mask, self._completion_mask = told[0] - 1, told[1] - 1
        submissions, completions = told[10:20], told[20:30]
        size = max(submissions[6] + told[0] * 4, completions[5] + told[1] * _COMPLETION.size)
        shared = mmap.MAP_SHARED | mmap.MAP_POPULATE
        self._rings = mmap.mmap(self._file, size, flags=shared, offset=0)
        self._entries = mmap.mmap(self._file, told[0] * _ENTRY.size, flags=shared, offset=_ENTRIES_AT)
        self._words = memoryview(self._rings).cast("I")
        self._submissions_end, self._order = submissions[1] // 4, submissions[6] // 4
        self._completions_begin, self._completions_end = completions[0] // 4, completions[1] // 4
        self._completions_flags, self._completions = completions[6] // 4, completions[5]
        self._fence = threading.Lock()
        self._message = ctypes.create_string_buffer(_MESSAGE)

    def _give_buffers(self) -> None:
        self._memory = mmap.mmap(-1, BUFFER_COUNT * BUFFER_SIZE)
        self._places = mmap.mmap(-1, BUFFER_COUNT * 16)
        self._view = memoryview(self._memory)
        self._shared_tail = memoryview(self._places)[14:16].cast("H")
        start = _address(self._memory)
        self._buffers = [
            _PLACE.pack(start + number * BUFFER_SIZE, BUFFER_SIZE, number) for number in range(BUFFER_COUNT)
        ]
        for number in range(BUFFER_COUNT):
            self._give(number)
        self._shared_tail[0] = self._given
        told = ctypes.create_string_buffer(struct.pack("<QIHHQQQ", _address(self._places), BUFFER_COUNT, 0, 0, 0, 0, 0))
        syscall(_REGISTER, self._file, _REGISTER_BUFFERS, ctypes.addressof(told), 1)

    def _give(self, number: int) -> None:
        place = (self._given & (BUFFER_COUNT - 1)) * 16
        self._places[place : place + _PLACE.size] = self._buffers[number]
        self._given = (self._given + 1) & 0xFFFF

    def _arrival(self, place: int) -> Completion:
        tag, result, flags = _COMPLETION.unpack_from(
            self._rings, self._completions + (place & self._completion_mask) * _COMPLETION.size
        )
        if not flags & _BUFFERED:
            return Completion(tag, b"", None, max(0, -result), bool(flags & _MORE))
        number = flags >> 16
        start = number * BUFFER_SIZE
        _, controls, size, _, _, _, kind, seconds, nanoseconds = _HEADER.unpack_from(self._memory, start)
        begin = start + _HEADER.size
        data = bytes(self._view[begin : begin + size])
        self._give(number)
        stamped = controls >= _CONTROL and kind in _STAMP_KINDS
        wall_ns = seconds * 1_000_000_000 + nanoseconds if stamped else None
        return Completion(tag, data, wall_ns, 0, bool(flags & _MORE))

    def _submit(self, entry: bytes) -> None:
        place = self._submitted & self._submission_mask
        self._entries[place * _ENTRY.size : (place + 1) * _ENTRY.size] = entry
        self._words[self._order + place] = place
        self._submitted = (self._submitted + 1) & _WRAP
        self._words[self._submissions_end] = self._submitted
        try:
            syscall(_ENTER, self._file, 1, 0, 0, 0, 0)
        except OSError:  # not taken: the place is free again
            self._submitted = (self._submitted - 1) & _WRAP
            self._words[self._submissions_end] = self._submitted
            raise

    def _try(self) -> None:
        """Read a socket of my own to its end; an older kernel knows half of this."""
        near, far = socket.socketpair()
        with near:
            with far:
                far.send(b"?")
            self.receive(1, near.fileno())
        if [(one.data, one.more) for one in self.arrivals()] != [(b"?", True), (b"", False)]:
            raise OSError(errno.EOPNOTSUPP, "the kernel does not read on its own")
        os.eventfd_read(self.bell)


def _address(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
