"""What is judged of endpoints against their own baselines: the worst of each, and the words that a row has for it."""

from collections.abc import Iterable
from typing import Final

from probes.alerts.state import WORST_FIRST, Judgement
from probes.alerts.state import State as JudgedState
from probes.text import line
from tui.state.usual import hour_words
from tui.state.view import EndpointView
from tui.style.format import number, since
from tui.style.palette import State

SHOWN: Final[dict[JudgedState, State]] = {
    JudgedState.DOWN: "down",
    JudgedState.FAILING: "failing",
    JudgedState.SILENT: "silent",
    JudgedState.QUOTA: "limited",
    JudgedState.LIMITED: "limited",
    JudgedState.SLOW: "slow",
}
"""What a row says of an endpoint that is judged so; the other judgements say nothing that its samples do not."""

UNITS: Final = {"ttft_ms": ("TTFT", "ms"), "tokens_per_s": ("", "tokens/s")}
"""What is slow, and its unit."""


def worst_by_endpoint(judgements: Iterable[Judgement]) -> dict[str, Judgement]:
    """Of the judgements of each endpoint's lanes and places the worst, of equal ones that which is so for longest."""
    found: dict[str, Judgement] = {}
    for one in sorted(judgements, key=lambda one: (WORST_FIRST.index(one.state), one.since)):
        found.setdefault(one.endpoint, one)
    return found


def ratio(value: float) -> str:
    """How many times slower than usual: ``1.9×``, ``12×``."""
    return f"{value:.1f}×" if value < 9.95 else f"{value:,.0f}×"


def state_words(view: EndpointView, at: int) -> str:
    """The state with since when it is so, or how slow it is: ``failing 4 m``, ``slow 1.9×``; ``ok`` alone."""
    if view.state == "slow":
        return f"slow {ratio(view.ratio)}" if view.ratio is not None else "slow"
    return f"{view.state} {since(view.since, at)}" if view.since is not None else view.state


def why(judgement: Judgement) -> str:
    """Why it is judged so, in one line."""
    if judgement.state is JudgedState.SLOW:
        return slowness(judgement)
    outcome = (judgement.outcome or "").replace("_", " ")
    newest = ": ".join(one for one in (outcome, judgement.detail) if one)
    count = f"{judgement.failures} of {judgement.probes} failed" if judgement.failures else ""
    return line("; ".join(one for one in (newest, count) if one))


def slowness(judgement: Judgement) -> str:
    """The newest median against the usual of its hour of the week, and against the worst that is known of it.

    ``1.9× the usual of Tuesdays 15:00: TTFT 812 ms, usually 430 ms; worst in 28 days 1.6×``.
    """
    usual = f"the usual of {hour_words(judgement.at)}"
    parts = [f"{ratio(judgement.ratio)} {usual}" if judgement.ratio is not None else "slower than usual"]
    if judgement.metric is not None and judgement.value is not None and judgement.usual is not None:
        name, unit = UNITS[judgement.metric]
        parts[0] += f": {name} {number(judgement.value)} {unit}, usually {number(judgement.usual)} {unit}".replace(
            ":  ", ": "
        )
    if judgement.worst is not None:
        parts.append(f"worst in 28 days {ratio(judgement.worst)}")
    return "; ".join(parts)
