"""Answers as JSON objects, one encoding for ``--json``, the HTTP API and agents.

Instants are milliseconds since the epoch, spans are in the units of their names, what is not known is None. Fields are
never renamed and never mean something else; ``version`` grows where one would have to.
"""

from typing import Any, Final

from probes.answers.best import Best, By, Comparison, Member

VERSION: Final = 1

UNITS: Final[dict[By, str]] = {"ttft": "ms", "tokens_per_s": "tokens/s", "e2e": "ms", "cost": "USD"}


def best_object(answer: Best) -> dict[str, Any]:
    """Who of a group is best, as ``inftop best --json`` prints it: the ranked members first, then the others."""
    first = answer.first
    beat = next((one.beat_at for one in answer.now.recorders if one.vantage == answer.vantage), None)
    return {
        "version": VERSION,
        "at": answer.now.at,
        "group": answer.group,
        "by": answer.by,
        "unit": UNITS[answer.by],
        "window_s": answer.now.window_s,
        "lane": answer.now.lane,
        "vantage": answer.vantage,
        "other_vantages": list(answer.other_vantages),
        "recorder_beat_at": beat,
        "best": None if first is None else first.endpoint.name,
        "is_clear": first is not None and not answer.level,
        "no_difference_shown": [one.endpoint.name for one in answer.level],
        "members": [
            *(_member(one, answer, rank) for rank, one in enumerate(answer.ranked, start=1)),
            *(_member(one, answer, None) for one in answer.vetoed),
        ],
    }


def _member(one: Member, answer: Best, rank: int | None) -> dict[str, Any]:
    endpoint = one.endpoint
    return {
        "name": endpoint.name,
        "provider": endpoint.provider,
        "model": endpoint.model,
        "rank": rank,
        "why_not": one.veto,
        "state": endpoint.state,
        "why": endpoint.why or None,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "n": one.n,
        "last_at": endpoint.last_at,
        "age_s": None if endpoint.last_at is None else max(0, answer.now.at - endpoint.last_at) / 1000,
        "probes": endpoint.probes,
        "failures": endpoint.failures,
        "times_first": None if one.against_first is None else _comparison(one.against_first),
    }


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "ratio": found.ratio,
        "low": found.low,
        "high": found.high,
        "pairs": found.pairs,
        "is_shown": found.shown,
    }
