"""The records of `inftop race --json`: the news while a race runs, and the result that it ends with; pure."""

from dataclasses import asdict
from typing import Any, Final

from msgspec import to_builtins

from probes.race.price import cost, total_usd
from probes.race.race import Race
from probes.race.updates import RaceNews
from probes.race.verdict import METRICS, HeadToHead, PairedComparison

_NOTHING: Final = {"ratio": None, "low": None, "high": None, "wins": 0, "losses": 0, "pairs": 0}
_COUNTS: Final = ("wins", "losses", "pairs")
_EXACT: Final = 6


def result(race: Race) -> dict[str, Any]:
    """The result of a race, JSON-ready.

    ``winner`` is the name of a lane, or null where no difference is shown; ``heats`` how many were run. ``metrics``
    compares ``lane``, the leader, with ``against``, the runner-up: a `PairedComparison` by metric, with nulls
    where nothing can be compared. ``duels`` has the same for the leader against each other lane. ``cost`` has the total
    in USD, and by each lane's name what a `LaneCost` holds. ``skew_ms`` is that of each heat; ``stopped`` is why
    the race ended before its last heat.
    """
    verdict = race.verdict
    duel = next(iter(verdict.duels), None)
    costs = cost(race.heats, race.request.lanes)
    return {
        "type": "result",
        "winner": verdict.winner,
        "heats": len(race.heats),
        "metrics": _metrics(duel) if duel else {metric: dict(_NOTHING) for metric in METRICS},
        "words": verdict.words,
        "lane": duel.lane if duel else None,
        "against": duel.against if duel else None,
        "duels": [{"lane": one.lane, "against": one.against, "metrics": _metrics(one)} for one in verdict.duels],
        "faults": [asdict(one) for one in verdict.faults],
        "cost": {
            "usd": _exact(total_usd(costs)),
            "lanes": {
                one.lane: {name: _exact(value) for name, value in asdict(one).items() if name != "lane"}
                for one in costs
            },
        },
        "skew_ms": [heat.skew_ms for heat in race.heats],
        "stopped": race.stopped,
    }


def news_record(news: RaceNews) -> dict[str, Any]:
    """The news of a race, JSON-ready; ``type`` is "racenews", and a finished lane's sample has all its columns."""
    record: dict[str, Any] = to_builtins(news)
    for lane, said in zip(record["lanes"], news.lanes, strict=True):
        lane["sample"] = said.sample.to_json() if said.sample else None
    return record


def _metrics(duel: HeadToHead) -> dict[str, dict[str, float | None]]:
    return {one.metric: _figures(one) for one in duel.comparisons}


def _figures(one: PairedComparison) -> dict[str, float | None]:
    return {name: getattr(one, name) if name in _COUNTS else _exact(getattr(one, name)) for name in _NOTHING}


def _exact(value: float | None) -> float | None:
    """Without digits that nobody measured."""
    return None if value is None else float(f"{value:.{_EXACT}g}")
