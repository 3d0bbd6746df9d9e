"""Race: a wish that was run, and what came of it."""

from dataclasses import dataclass

from probes.endpoint import Price
from probes.race.heat import Heat
from probes.race.request import RaceRequest
from probes.race.verdict import RaceVerdict


@dataclass(frozen=True, slots=True)
class LaneFacts:
    """Who ran in a lane: its name, and what it was at the time."""

    name: str
    provider: str
    model: str
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Race:
    """One race. ``number`` is its place in the store, None before it is kept; ``started_at`` in ms since the epoch.

    ``differences`` say where the lanes could not be asked the same; ``stopped`` why it ended before its last heat.
    """

    number: int | None
    started_at: int
    wish: RaceRequest
    lanes: tuple[LaneFacts, ...]
    heats: tuple[Heat, ...]
    verdict: RaceVerdict
    differences: tuple[str, ...] = ()
    stopped: str | None = None
    simulated: bool = False
    vantage: str = "local"
