"""Recording: what one lane sent, byte for byte and moment for moment, small enough to be kept for ever."""

import zlib
from dataclasses import dataclass
from typing import Final

from probes.race.moment import Moment
from probes.wire.dialect import Kind

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Recording:
    """One lane of one heat. ``sent`` and ``end`` are in nanoseconds since the gun; None where it did not come to it.

    ``end`` is when the answer was over: its terminal marker, or what broke it off.
    """

    sent: int | None = None
    end: int | None = None
    moments: tuple[Moment, ...] = ()
