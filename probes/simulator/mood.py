"""Mood: how a simulated model's health changes, as a pure function of the time since the start."""

from dataclasses import dataclass

from probes.simulator.fault import Fault


@dataclass(frozen=True, slots=True)
class Spell:
    """A disturbance that returns: from ``first_s`` on, for ``lasts_s``, every ``every_s`` seconds.

    It touches a ``share`` of the requests: spoils their answers with ``fault``, makes them ``slower`` by a factor, and
    serves them at another ``speed`` than the one asked for (Anthropic's fast mode).
    """

    first_s: float
    lasts_s: float
    every_s: float
    share: float = 1.0
    fault: Fault | None = None
    slower: float = 1.0
    speed: str | None = None

    def holds(self, since_start_s: float) -> bool:
        """Whether the spell is on."""
        return since_start_s >= self.first_s and (since_start_s - self.first_s) % self.every_s < self.lasts_s


@dataclass(frozen=True, slots=True)
class Mood:
    """A model's spells, the gravest first."""

    spells: tuple[Spell, ...]

    def at(self, since_start_s: float, draw: float) -> Spell | None:
        """The spell that touches a request at that time; ``draw`` is the request's luck, 0 to 1."""
        return next((one for one in self.spells if one.holds(since_start_s) and draw < one.share), None)
