"""Messages: what a source tells the screen besides the engine's own frames; past tense, values only."""

from dataclasses import dataclass

from probes.feed.messages import Frame, Hello
from probes.race.updates import RaceNews


@dataclass(frozen=True, slots=True)
class SourceLost:
    """The engine, or the recorder we read along with, is gone; ``retry_at`` (ms) if we try again."""

    reason: str
    retry_at: int | None = None


@dataclass(frozen=True, slots=True)
class LineRejected:
    """The engine wrote a line that is no message; it was dropped."""

    reason: str


@dataclass(frozen=True, slots=True)
class RecorderJoined:
    """Another process holds the store; we read what it stores, and command nothing."""

    holder: str


@dataclass(frozen=True, slots=True)
class RecorderAbsent:
    """Nobody writes to the store we look at; ``since`` (ms) the last one was heard of, None where there was none."""

    since: int | None


Message = Hello | Frame | RaceNews | SourceLost | LineRejected | RecorderJoined | RecorderAbsent
