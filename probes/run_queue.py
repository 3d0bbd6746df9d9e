"""RunQueue: how long the system kept a thread waiting for a processor."""

import os
import threading


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
