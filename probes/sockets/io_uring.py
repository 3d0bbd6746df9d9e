"""io_uring, as far as it reads sockets: the kernel takes what arrives at the moment it does, without being asked.

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
"""Bytes of one buffer, its header included."""

BUFFER_COUNT: Final = 4_096
"""A power of 2. When all are full the kernel keeps the data, and ends the receiving of a socket with ENOBUFS."""

_SUBMISSIONS: Final = 64

MAX_COMPLETIONS: Final = 256
"""Completions that are taken at once: a quarter of a megabyte of data."""

_WRAP: Final = 0xFFFFFFFF
"""The mask of a 32-bit counter."""

_COMPLETIONS: Final = 2 * BUFFER_COUNT
"""More than there are buffers, so that no completion of theirs is ever without a place."""

_SETUP, _ENTER, _REGISTER = 425, 426, 427  # the same on every architecture (asm-generic/unistd.h)
_REGISTER_EVENTFD, _REGISTER_BUFFERS = 4, 22  # IORING_REGISTER_EVENTFD, IORING_REGISTER_PBUF_RING
_COMPLETIONS_SIZED = 1 << 3  # IORING_SETUP_CQSIZE
_ENTRIES_OFFSET = 0x10000000  # IORING_OFF_SQES
_RECVMSG, _CANCEL = 10, 14  # IORING_OP_RECVMSG, IORING_OP_ASYNC_CANCEL
_SELECT_BUFFER = 1 << 5  # IOSQE_BUFFER_SELECT
_MULTISHOT = 1 << 1  # IORING_RECV_MULTISHOT
_BUFFERED, _MORE = 1, 2  # IORING_CQE_F_BUFFER, IORING_CQE_F_MORE
_NO_EVENTS = 1  # IORING_CQ_EVENTFD_DISABLED

_ENTRY: Final = struct.Struct("<BBHiQQIIQHH20x")
"""``io_uring_sqe``: operation, flags, priority (of a receive: how), file, offset, address, length, flags of the
operation, user data (here the tag), buffer group, personality."""

_COMPLETION: Final = struct.Struct("<QiI")
"""``io_uring_cqe``: user data, result, flags."""

_HEADER: Final = struct.Struct("<IIII Q ii qq")
"""``io_uring_recvmsg_out`` (lengths of name, control messages and data, flags), then one control message (length,
level, type) with a timespec."""

_CONTROL: Final = 32
"""Bytes of that control message."""

DATA_SIZE: Final = BUFFER_SIZE - _HEADER.size
"""Bytes of data in a full buffer: the most that one completion brings."""

_BUFFER_ENTRY: Final = struct.Struct("<QIH")
"""``io_uring_buf``: address, length, number; the tail of the ring of buffers lies behind the first of them."""

_MESSAGE: Final = struct.pack("<QI4xQQQQi4x", 0, 0, 0, 0, 0, _CONTROL, 0)
"""``msghdr``: no name, no memory of its own, and room for the control message."""

_STAMP_KINDS: Final = (35, 64)
"""``SO_TIMESTAMPNS_OLD`` and ``_NEW``."""


class Completion(NamedTuple):
    """One completion: the ``tag`` of the socket, its data, and the wall clock's ns at which the last byte arrived.

    ``error`` is an errno, 0 for none; without data and without one, the other side has ended the connection. ``more``:
    the kernel goes on reading the socket.
    """

    tag: int
    data: bytes
    wall_ns: int | None
    error: int
    more: bool


class Uring:
    """One ring with its buffers. Raises OSError where this system has no such thing.

    `receive` and `cancel` must be called on one thread, in whose name and priority the kernel then reads; all else on
    one other. Numbers that are shared with the kernel are read and written whole, and in the order of the program:
    that needs no barriers on x86-64, and Python has none to offer elsewhere.
    """

    def __init__(self) -> None:
        if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
            raise OSError(errno.ENOSYS, "no io_uring here")
        self._submitted = self._taken = self._offered = 0
        parameters = (ctypes.c_uint32 * 30)()
        parameters[1], parameters[2] = _COMPLETIONS, _COMPLETIONS_SIZED
        self._file = syscall(_SETUP, _SUBMISSIONS, ctypes.addressof(parameters))
        try:
            self._map(list(parameters))
            self._register_buffers()
            self.event_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        except BaseException:
            os.close(self._file)
            raise
        try:
            number = ctypes.c_int(self.event_fd)
            syscall(_REGISTER, self._file, _REGISTER_EVENTFD, ctypes.addressof(number), 1)
            self._test()
        except BaseException:
            self.close()
            raise

    def receive(self, tag: int, file: int) -> None:
        """Have the kernel read a socket from now on. Raises OSError."""
        address = ctypes.addressof(self._message)
        self._submit(_ENTRY.pack(_RECVMSG, _SELECT_BUFFER, _MULTISHOT, file, 0, address, 1, 0, tag, 0, 0))

    def cancel(self, tag: int) -> None:
        """Have it read a socket no more; its last completion says so. Raises OSError."""
        self._submit(_ENTRY.pack(_CANCEL, 0, 0, -1, 0, tag, 0, 0, 0, 0, 0))

    @property
    def pending(self) -> int:
        """How many completions there are to be taken."""
        return (self._words[self._completions_end] - self._taken) & _WRAP

    def take_completions(self) -> list[Completion]:
        """The oldest completions that were not taken yet, at most `MAX_COMPLETIONS`; their buffers are free again."""
        if not (count := min(self.pending, MAX_COMPLETIONS)):
            return []
        end = (self._taken + count) & _WRAP
        found = [self._completion(place) for place in range(self._taken, self._taken + count)]
        self._taken = end
        self._shared_tail[0] = self._offered
        self._words[self._completions_begin] = end
        return [one for one in found if one.tag]

    def notify(self, *, enabled: bool) -> None:
        """Whether a completion makes ``event_fd``, an eventfd, readable.

        After enabling it again, take once what is there: completions that came meanwhile make no event.
        """
        self._words[self._completions_flags] = 0 if enabled else _NO_EVENTS
        with self._fence:  # an atomic operation: what is read after this was not read before it
            pass

    def close(self) -> None:
        """Give everything back. The thread in whose name the kernel reads must have ended."""
        for view in (self._words, self._view, self._shared_tail):
            view.release()
        for memory in (self._rings, self._entries, self._memory, self._places):
            memory.close()
        os.close(self.event_fd)
        os.close(self._file)

    def _map(self, parameters: list[int]) -> None:
        """Map the rings; ``parameters`` are the words of ``io_uring_params`` (linux/io_uring.h), which say where."""
        self._submission_mask, self._completion_mask = parameters[0] - 1, parameters[1] - 1
        submissions, completions = parameters[10:20], parameters[20:30]
        size = max(submissions[6] + parameters[0] * 4, completions[5] + parameters[1] * _COMPLETION.size)
        shared = mmap.MAP_SHARED | mmap.MAP_POPULATE
        self._rings = mmap.mmap(self._file, size, flags=shared, offset=0)
        self._entries = mmap.mmap(self._file, parameters[0] * _ENTRY.size, flags=shared, offset=_ENTRIES_OFFSET)
        self._words = memoryview(self._rings).cast("I")
        self._submissions_end, self._order = submissions[1] // 4, submissions[6] // 4
        self._completions_begin, self._completions_end = completions[0] // 4, completions[1] // 4
        self._completions_flags, self._completions = completions[6] // 4, completions[5]
        self._fence = threading.Lock()
        self._message = ctypes.create_string_buffer(_MESSAGE)

    def _register_buffers(self) -> None:
        """Make the buffers and offer all of them to the kernel."""
        self._memory = mmap.mmap(-1, BUFFER_COUNT * BUFFER_SIZE)
        self._places = mmap.mmap(-1, BUFFER_COUNT * 16)
        self._view = memoryview(self._memory)
        self._shared_tail = memoryview(self._places)[14:16].cast("H")
        start = _address(self._memory)
        self._buffers = [
            _BUFFER_ENTRY.pack(start + number * BUFFER_SIZE, BUFFER_SIZE, number) for number in range(BUFFER_COUNT)
        ]
        for number in range(BUFFER_COUNT):
            self._offer(number)
        self._shared_tail[0] = self._offered
        registration = ctypes.create_string_buffer(
            struct.pack("<QIHHQQQ", _address(self._places), BUFFER_COUNT, 0, 0, 0, 0, 0)
        )
        syscall(_REGISTER, self._file, _REGISTER_BUFFERS, ctypes.addressof(registration), 1)

    def _offer(self, number: int) -> None:
        """Offer a buffer to the kernel, to be filled."""
        place = (self._offered & (BUFFER_COUNT - 1)) * 16
        self._places[place : place + _BUFFER_ENTRY.size] = self._buffers[number]
        self._offered = (self._offered + 1) & 0xFFFF

    def _completion(self, place: int) -> Completion:
        """Read one completion, and copy the data out of its buffer."""
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
        self._offer(number)
        stamped = controls >= _CONTROL and kind in _STAMP_KINDS
        wall_ns = seconds * 1_000_000_000 + nanoseconds if stamped else None
        return Completion(tag, data, wall_ns, 0, bool(flags & _MORE))

    def _submit(self, entry: bytes) -> None:
        """Put an entry into the submission ring and enter the kernel. Raises OSError."""
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

    def _test(self) -> None:
        """Read a socket of our own to its end. Raises OSError: an older kernel knows only half of this."""
        near, far = socket.socketpair()
        with near:
            with far:
                far.send(b"?")
            self.receive(1, near.fileno())
        if [(one.data, one.more) for one in self.take_completions()] != [(b"?", True), (b"", False)]:
            raise OSError(errno.EOPNOTSUPP, "the kernel does not read on its own")
        os.eventfd_read(self.event_fd)


def _address(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
