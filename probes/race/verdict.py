"""The verdict on a race: who is faster, by how much, and whether that was luck; pure."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final, Literal, get_args

from probes.race.faults import LaneFault, LaneRecord, finished_right, heats_words, lane_faults, lane_record
from probes.race.heat import Heat
from probes.sample import Sample
from probes.stats.paired_confidence import CHANCE, FEWEST, chance_of_look, paired_interval
from probes.stats.quantiles import median
from probes.stats.sample_values import chars_per_s, is_measured, measured

Metric = Literal["ttft_ms", "e2e_ms", "tokens_per_s", "chars_per_s"]

DECIDING: Final[Metric] = "chars_per_s"
"""Characters of output over E2E: what a reader waits for, whatever the tokenizer and however long the answer."""

METRICS: Final[tuple[Metric, ...]] = get_args(Metric)
FEWEST_FOR_WALKOVER: Final = 2
"""Heats without a right finish after which a lane has lost to those that do finish."""

_Row = Mapping[str, Sample]
"""A heat, as the sample of each lane."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """One lane against another by one metric, heat by heat.

    ``ratio`` is the median of how many times better the lane was (2.0: half the time, or twice the speed), taken of
    the logarithms; ``low`` and ``high`` its 95 % interval, None where too few heats allow none. Pairs where either
    lane has no value do not count; a pair that is equal is neither won nor lost.
    """

    metric: Metric
    ratio: float | None
    low: float | None
    high: float | None
    wins: int
    losses: int
    pairs: int


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """One lane against another one, by every metric."""

    lane: str
    against: str
    comparisons: tuple[PairedComparison, ...]

    def by(self, metric: Metric) -> PairedComparison:
        """The comparison by one metric. Raises StopIteration where there is none."""
        return next(one for one in self.comparisons if one.metric == metric)


@dataclass(frozen=True, slots=True)
class FaultCount:
    """What went wrong in a lane, and in how many heats. ``counts``: it speaks against the lane itself."""

    lane: str
    words: str
    heats: int
    counts: bool = True


@dataclass(frozen=True, slots=True)
class RaceVerdict:
    """What the heats so far show. ``winner`` is None where no difference is shown; ``leader`` is who is ahead anyway.

    ``duels`` has the leader against each other lane, the closest (the runner-up) first; without a leader the first of
    those level; none where no lane finished right. ``words`` is one sentence for a person.
    """

    winner: str | None
    leader: str | None
    heats: int
    duels: tuple[HeadToHead, ...]
    faults: tuple[FaultCount, ...]
    words: str


def decide(heats: Sequence[Heat], lanes: Sequence[str], *, every_heat: bool = False) -> RaceVerdict:
    """Who of ``lanes`` is faster by `DECIDING` in the ``heats`` so far, if any; pure, and the same each time.

    A heat counts for two lanes where both finished right (`finished_right`) with times that are trusted. The
    winner beats each other lane: the whole interval lies above 1, or the other one never finished right in two heats
    or more. A lane with faults of its own in half of its heats, or more, does not win.

    Of races between equal lanes at most one in fifty gets a winner, if this is called once. ``every_heat`` says that it
    is called after every heat, to stop at a winner: then intervals are wider, and the same holds for all the calls
    together.
    """
    rows = [{one.lane: one.sample for one in heat.lanes} for heat in heats]
    found = [list(lane_faults(row)) for row in rows]
    records = {lane: lane_record(lane, [row[lane] for row in rows if lane in row], found) for lane in lanes}
    faults = tuple(_faults(lanes, [one for heat in found for one in heat]))
    if not any(one.finished_right for one in records.values()):
        whys = "; ".join(f"{one.lane} {one.why}" for one in records.values() if one.why)
        words = f"no lane finished right{whys and ': '}{whys}" if rows else "no heat yet"
        return RaceVerdict(None, None, len(rows), (), faults, words)
    ranks = _ranks(rows, records)
    top, second = sorted(lanes, key=lambda lane: ranks[lane], reverse=True)[:2]
    duels = sorted((_duel(rows, top, other, every_heat) for other in lanes if other != top), key=_closeness)
    unbeaten = [duel for duel in duels if not _beats(duel, records)]
    winner = None if unbeaten or records[top].out else top
    leader = top if ranks[top] > ranks[second] else None
    words = _verdict_sentence((unbeaten or duels)[0], records, winner)
    return RaceVerdict(winner, leader, len(rows), tuple(duels), faults, words)


def is_decided(heats: Sequence[Heat], lanes: Sequence[str]) -> bool:
    """Whether a race that is looked at after every heat has a winner by now, so that it may end."""
    return decide(heats, lanes, every_heat=True).winner is not None


def _faults(lanes: Sequence[str], found: Sequence[LaneFault]) -> Iterator[FaultCount]:
    """Every kind of fault of every lane, the most frequent first, with the detail that came most often."""
    for lane in lanes:
        mine = [one for one in found if one.lane == lane]
        for words, count in Counter(one.words for one in mine).most_common():
            details = Counter(one.detail for one in mine if one.words == words and one.detail).most_common(1)
            counts = any(one.counts for one in mine if one.words == words)
            yield FaultCount(lane, f"{words}: {details[0][0]}" if details else words, count, counts)


def _ranks(rows: Sequence[_Row], records: Mapping[str, LaneRecord]) -> dict[str, tuple[bool, int, float]]:
    """The rank of each lane, the highest the best: not out, ahead of how many others, and how far in all."""
    ahead, far = dict.fromkeys(records, 0), dict.fromkeys(records, 0.0)
    for one, other in permutations(records, 2):
        middle = median(_logs(_pairs(rows, one, other), DECIDING)) or 0.0
        walkover = records[one].finished_right > 0 and not records[other].finished_right
        ahead[one] += walkover or middle > 0
        far[one] += middle
    return {lane: (not one.out, ahead[lane], far[lane]) for lane, one in records.items()}


def _pairs(rows: Sequence[_Row], lane: str, against: str) -> list[tuple[Sample, Sample]]:
    both = [(row[lane], row[against]) for row in rows if lane in row and against in row]
    return [pair for pair in both if all(finished_right(one) and is_measured(one) for one in pair)]


def _logs(pairs: Sequence[tuple[Sample, Sample]], metric: Metric) -> list[float]:
    """Of each pair that has the metric: the logarithm of how many times better the first one is."""
    values = ((_value(one, metric), _value(other, metric)) for one, other in pairs)
    logs = [math.log(one / other) for one, other in values if one and other]
    return [-log for log in logs] if metric in ("ttft_ms", "e2e_ms") else logs


def _value(sample: Sample, metric: Metric) -> float | None:
    if metric == "chars_per_s":
        return chars_per_s(sample.output_chars, sample.e2e_ms)
    return measured(sample, metric)


def _duel(rows: Sequence[_Row], lane: str, against: str, every_heat: bool) -> HeadToHead:
    pairs = _pairs(rows, lane, against)
    return HeadToHead(lane, against, tuple(_comparison(_logs(pairs, metric), metric, every_heat) for metric in METRICS))


def _comparison(logs: Sequence[float], metric: Metric, every_heat: bool) -> PairedComparison:
    middle = median(logs)
    interval = paired_interval(logs, chance_of_look(max(len(logs), FEWEST)) if every_heat else CHANCE)
    return PairedComparison(
        metric,
        ratio=None if middle is None else math.exp(middle),
        low=None if interval is None else math.exp(interval[0]),
        high=None if interval is None else math.exp(interval[1]),
        wins=sum(log > 0 for log in logs),
        losses=sum(log < 0 for log in logs),
        pairs=len(logs),
    )


def _closeness(duel: HeadToHead) -> float:
    """How far ahead the lane is; of a lane that there is nothing to compare with, farther than of any other."""
    ratio = duel.by(DECIDING).ratio
    return math.inf if ratio is None else ratio


def _beats(duel: HeadToHead, records: Mapping[str, LaneRecord]) -> bool:
    lane, against = records[duel.lane], records[duel.against]
    if not against.finished_right:
        return min(lane.finished_right, against.heats) >= FEWEST_FOR_WALKOVER
    return (duel.by(DECIDING).low or 0.0) > 1


def _verdict_sentence(duel: HeadToHead, records: Mapping[str, LaneRecord], winner: str | None) -> str:
    """What one duel shows; without a winner also which of the two lanes must not win, and why."""
    lane, against = records[duel.lane], records[duel.against]
    if not against.finished_right:
        sentence = _walkover_sentence(lane, against, winner, len(records) > 2)
    elif not duel.by(DECIDING).pairs:
        sentence = (
            f"nothing to compare: in no heat did {lane.lane} and {against.lane} both finish right, with times to trust"
        )
    else:
        sentence = _comparison_sentence(duel, len(records) > 2)
    barred = [] if winner else [f"; {one.lane} does not win: {one.why}" for one in (lane, against) if one.out]
    return sentence + "".join(barred)


def _walkover_sentence(lane: LaneRecord, against: LaneRecord, winner: str | None, many: bool) -> str:
    """What a duel shows in which only ``lane`` finished right; ``many``: the race has more than two lanes."""
    if winner:
        return f"{winner} wins: " + (
            "no other lane finished right" if many else f"{against.lane} never finished right, {against.why}"
        )
    heats = heats_words(lane.heats)
    return f"no winner yet: {lane.lane} finished right in {lane.finished_right} of {heats}, {against.lane} in none"


def _comparison_sentence(duel: HeadToHead, many: bool) -> str:
    """What a duel shows by numbers, from the view of the faster lane; ``many``: the race has more than two lanes."""
    seen, finish = duel.by(DECIDING), duel.by("e2e_ms")
    fast, slow, wins, firsts = duel.lane, duel.against, seen.wins, finish.losses
    figures = seen.ratio or 1.0, seen.low, seen.high
    if figures[0] < 1:
        fast, slow, wins, firsts = slow, fast, seen.losses, finish.wins
        figures = 1 / figures[0], seen.high and 1 / seen.high, seen.low and 1 / seen.low
    ratio, low, high = figures
    faster = f"{_number(ratio, ratio)}× faster" + (f" than {slow}" if many else "")
    often = " with a shorter answer" if seen.pairs == 1 else f" in {firsts} of {finish.pairs}, with shorter answers"
    first = f", though {slow} finished first{often}" if 2 * firsts > finish.pairs else ""
    if low is None or high is None:
        count = "one heat" if seen.pairs == 1 else heats_words(seen.pairs)
        result = f"{fast} was {faster}{first}" if ratio > 1 else "a dead heat"
        return f"{count}: {result}; more heats tell whether that was luck"
    if low <= 1:
        between = f" between {fast} and {slow}" if many else ""
        reach = f"{_number(low, 1.0)}–{_number(high, 1.0)}"
        return f"no difference shown{between}: {heats_words(seen.pairs)}, interval {reach} includes 1"
    return f"{fast} is {faster} ({_number(low, ratio)}–{_number(high, ratio)}, won {wins} of {seen.pairs}){first}"


def _number(value: float, ratio: float) -> str:
    """A ratio or an end of its interval, as exact as the ratio deserves; never rounded to 1 where it is above it."""
    if not 0.005 <= value < 1000:
        return "<0.01" if value < 1 else ">999"
    exact = (f"{value:.{digits}f}" for digits in range(1 if ratio >= 1.25 else 2, 5))
    return next((text for text in exact if float(text) != 1 or value == 1), "1")
