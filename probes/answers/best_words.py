"""Who is best, in words: a line that answers, a table of all members, and what was compared; pure."""

from collections.abc import Iterator
from typing import Final

from probes.answers.best import Best, By, Member
from probes.answers.state import ago
from probes.format import DASH, number, times

TITLES: Final[dict[By, str]] = {
    "ttft": "TTFT p50",
    "tokens_per_s": "tokens/s p50",
    "e2e": "whole answer p50",
    "cost": "cost of a probe",
}
_FASTEST: Final[dict[By, str]] = {
    "ttft": "is fastest to the first token",
    "tokens_per_s": "decodes fastest",
    "e2e": "is done first",
    "cost": "costs least",
}
NOT_SHOWN: Final = "no difference shown"

RIGHT: Final = (0, 2, 4, 6, 7)
"""The columns of `table` that are aligned to the right."""


def headline(answer: Best) -> str:
    """One line that answers."""
    first = answer.first
    if first is None:
        several = f"none of the {len(answer.vetoed)} members" if len(answer.vetoed) > 1 else "no member"
        return f"{answer.group}: {several} can be had now"
    how = f"{figure(first.value, answer.by)}, {interval(first, answer.by)}, n {first.n}"
    text = f"{first.endpoint.name} {_FASTEST[answer.by]} of {answer.group} now: {how}"
    level, others = answer.level, len(answer.ranked) - 1
    if not others:
        return f"{text}; it is the only one that can be had"
    if not level:
        return f"{text}; better than {'the other one' if others == 1 else f'all {others} others'}"
    names = ", ".join(one.endpoint.name for one in level[:3]) + (
        f" and {len(level) - 3} more" if len(level) > 3 else ""
    )
    return f"{text}; {NOT_SHOWN} to {names}"


def table(answer: Best) -> list[tuple[str, ...]]:
    """A heading and a row of cells for each member, the first first; those that are not to be had last, with why."""
    rows: list[tuple[str, ...]] = [
        ("", "endpoint", TITLES[answer.by], "95 % interval", "to the first", "", "n", "age", "")
    ]
    for place, one in enumerate(answer.ranked, start=1):
        rows.append((str(place), one.endpoint.name, *_figures(one, answer), *_against(one, answer), *_end(one, answer)))
    for one in answer.vetoed:
        figures = _figures(one, answer) if one.n else (DASH, "")
        rows.append(
            (DASH, one.endpoint.name, *figures, "", "", str(one.n), _age(one, answer), f"not ranked: {one.veto}")
        )
    return rows


def notes(answer: Best) -> Iterator[str]:
    """What was compared, and what else there is."""
    lane = answer.now.lane
    seen = f"seen from {answer.vantage}" if answer.vantage is not None else "never measured"
    yield f"the last {ago(round(1000 * answer.now.window_s))} on {lane} connections, {seen}"
    if answer.other_vantages:
        yield f"also measured from {', '.join(answer.other_vantages)}: --vantage NAME"
    if answer.by == "cost":
        yield "US dollars for one probe, as its tokens and the price in the configuration come to"


def figure(value: float | None, by: By) -> str:
    """A median with its unit."""
    if value is None:
        return DASH
    return f"${value:.6f}" if by == "cost" else f"{number(value)} {'tokens/s' if by == 'tokens_per_s' else 'ms'}"


def interval(one: Member, by: By) -> str:
    """The 95 % interval of a member's median, without a unit."""
    if one.low is None or one.high is None:
        return "too few for an interval"
    low, high = (f"{value:.6f}" if by == "cost" else number(value) for value in (one.low, one.high))
    return f"{low} to {high}"


def _figures(one: Member, answer: Best) -> tuple[str, str]:
    return figure(one.value, answer.by), interval(one, answer.by) if one.low is not None else ""


def _against(one: Member, answer: Best) -> tuple[str, str]:
    found = one.against_first
    if found is None:
        return "", ""
    worse = {"tokens_per_s": "slower", "cost": "dearer"}.get(answer.by, "slower")
    return times(found.ratio) if found.ratio is not None else DASH, worse if found.shown else NOT_SHOWN


def _end(one: Member, answer: Best) -> tuple[str, str, str]:
    endpoint = one.endpoint
    remark = "" if endpoint.state == "ok" else f"{endpoint.state}{f': {endpoint.why}' if endpoint.why else ''}"
    return str(one.n), _age(one, answer), remark


def _age(one: Member, answer: Best) -> str:
    return DASH if one.endpoint.last_at is None else ago(answer.now.at - one.endpoint.last_at)
