"""Messages: what a source tells the screen besides the engine's own frames, as frozen values."""

from dataclasses import dataclass

from probes.feed.messages import EndpointFacts, Frame, Hello
from probes.race.updates import RaceNews


@dataclass(frozen=True, slots=True)
class SourceLost:
    """The engine, or the recorder that was followed, has ended; ``retry_at`` (ms) is when it is tried again."""

    reason: str
    retry_at: int | None = None


@dataclass(frozen=True, slots=True)
class LineRejected:
    """The engine wrote a line that cannot be decoded; it was dropped."""

    reason: str


@dataclass(frozen=True, slots=True)
class RecorderJoined:
    """Another process holds the store; the screen reads what that one stores, and can command nothing."""

    holder: str


@dataclass(frozen=True, slots=True)
class RecorderAbsent:
    """No recorder writes to the store; ``since`` (ms) is when the last one was seen, None where there was none."""

    since: int | None


@dataclass(frozen=True, slots=True)
class Configured:
    """The screen's own configuration file was changed: these are its endpoints now."""

    endpoints: tuple[EndpointFacts, ...]


Message = Hello | Frame | RaceNews | SourceLost | LineRejected | RecorderJoined | RecorderAbsent | Configured
