"""Standing: what a lane's heats, each by itself, say for it and against it; pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probes.race.trouble import NOT_RUN, Trouble, right
from probes.sample import Sample


@dataclass(frozen=True, slots=True)
class Standing:
    """A lane: in how many heats it ran, finished right, and had faults of its own; and which, the most first."""

    lane: str
    heats: int
    right: int
    faulty: int
    faults: tuple[tuple[str, int], ...]

    @property
    def out(self) -> bool:
        """Whether it has faults in half of its heats or more: fast but wrong does not win."""
        return self.heats > 0 and 2 * self.faulty >= self.heats

    @property
    def why(self) -> str:
        """Its faults, for a person."""
        return ", ".join(f"{words} in {count} of {counted(self.heats)}" for words, count in self.faults)


def standing(lane: str, samples: Sequence[Sample], found: Iterable[Iterable[Trouble]]) -> Standing:
    """The standing of a lane: ``samples`` are its own, ``found`` the troubles of all lanes, heat by heat."""
    against = [{one.words for one in heat if one.counts and one.lane == lane} for heat in found]
    return Standing(
        lane,
        heats=sum(one.outcome not in NOT_RUN for one in samples),
        right=sum(right(one) for one in samples),
        faulty=sum(bool(words) for words in against),
        faults=tuple(Counter(one for words in against for one in sorted(words)).most_common()),
    )


def counted(count: int) -> str:
    """How many heats, for a person."""
    return "1 heat" if count == 1 else f"{count} heats"
