"""The faults of a lane in a heat, named, and what of them counts against it; pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from probes.events import CAPPED
from probes.figures.buffering import CAUSE
from probes.format import plural
from probes.outcome import Outcome
from probes.sample import Sample
from probes.text import line

_ANSWERED: Final = frozenset({Outcome.OK, Outcome.WRONG_ANSWER})
_LONGEST: Final = 120

NOT_RUN: Final = frozenset({Outcome.SKIPPED, Outcome.OWN_FAULT})
"""Outcomes of heats that inftop did not start, or spoilt itself: no fault of the lane."""


ANSWER_ALONE: Final = "other lanes' are of all output"


class LaneFault(NamedTuple):
    """One fault of a lane in one heat. ``counts``: it is the lane's own, so that it may cost it the win."""

    lane: str
    words: str
    detail: str | None
    counts: bool


def finished_right(sample: Sample) -> bool:
    """Whether it finished with the answer that was expected, if one was."""
    return sample.outcome is Outcome.OK and sample.expect_ok is not False


def lane_faults(heat: Mapping[str, Sample]) -> Iterator[LaneFault]:
    """The faults of one heat, given as the sample of each lane; a lane may have more than one."""
    ended = any(one.outcome is Outcome.OK and one.finish_reason and not _capped(one) for one in heat.values())
    bases = {one.speed_basis for one in heat.values() if one.tokens_per_s is not None}
    for lane, sample in heat.items():
        detail = line(sample.outcome_detail, _LONGEST) if sample.outcome_detail else None
        if sample.outcome is not Outcome.OK:
            refused = sample.outcome is Outcome.RATE_LIMITED
            words = "limited" if refused else sample.outcome.replace("_", " ")
            yield LaneFault(lane, words, detail, sample.outcome not in NOT_RUN)
        elif not finished_right(sample):
            yield LaneFault(lane, "wrong answer", None, counts=True)
        if ended and _capped(sample) and sample.outcome in _ANSWERED:
            # an answer that matches what was expected needed no more room
            yield LaneFault(lane, "stopped at the cap", None, counts=sample.expect_ok is not True)
        if sample.trusted is False and finished_right(sample):
            yield LaneFault(lane, "not trusted", "this machine held the engine up", counts=False)
        if sample.buffered and finished_right(sample):
            yield LaneFault(lane, "buffered", CAUSE, counts=False)
        if sample.speed_basis == "answer" and len(bases) > 1 and finished_right(sample):
            yield LaneFault(lane, "tokens/s of the answer alone", ANSWER_ALONE, counts=False)


def _capped(sample: Sample) -> bool:
    return (sample.finish_reason or "").lower() in CAPPED


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """A lane: in how many heats it ran, finished right, and had faults of its own; and which, the most first."""

    lane: str
    heats: int
    finished_right: int
    faulty: int
    faults: tuple[tuple[str, int], ...]

    @property
    def out(self) -> bool:
        """Whether it has faults in half of its heats or more: fast but wrong does not win."""
        return self.heats > 0 and 2 * self.faulty >= self.heats

    @property
    def why(self) -> str:
        """Its faults, for a person."""
        return ", ".join(f"{words} in {count} of {plural(self.heats, 'heat')}" for words, count in self.faults)


def lane_record(lane: str, samples: Sequence[Sample], found: Iterable[Iterable[LaneFault]]) -> LaneRecord:
    """The record of a lane: ``samples`` are its own, ``found`` the faults of all lanes, heat by heat."""
    against = [{one.words for one in heat if one.counts and one.lane == lane} for heat in found]
    return LaneRecord(
        lane,
        heats=sum(one.outcome not in NOT_RUN for one in samples),
        finished_right=sum(finished_right(one) for one in samples),
        faulty=sum(bool(words) for words in against),
        faults=tuple(Counter(one for words in against for one in sorted(words)).most_common()),
    )
