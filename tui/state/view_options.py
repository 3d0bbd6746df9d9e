"""Lens: what a person chose to see (period, place, order, filter, groups), and the pure functions that apply it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

from tui.state.history import SPAN_MS
from tui.state.ranking import Rank, grouped, unknown_last
from tui.state.view import EndpointView
from tui.style.palette import STATES
from tui.time.period import LENGTHS, Period

T = TypeVar("T")
Sort = Literal["configured", "name", "ttft", "tokens/s", "errors", "state"]
SORTS: Final[tuple[Sort, ...]] = ("configured", "name", "ttft", "tokens/s", "errors", "state")

Groups = Literal["headings", "side by side", "none"]
GROUPS: Final[tuple[Groups, ...]] = ("headings", "side by side", "none")
"""Groups as headings of the list; ranked in blocks of their own, the group view; a plain list."""

OTHERS: Final = "others"
"""The heading of the endpoints whose model nobody else here serves."""

NOTHING_SHARED: Final = 'no two endpoints share a model: give them the same group = "…" in the config'
"""The heading of the group view where there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What is shown and how; ``query`` filters by name, provider, model and state, all words must match.

    ``sort`` orders the list, ``rank`` the members of each group in the group view. ``vantage`` is the place whose
    samples are shown, None: all of them.
    """

    period: Period = field(default_factory=Period)
    vantage: str | None = None
    sort: Sort = "configured"
    query: str = ""
    groups: Groups = "headings"
    rank: Rank = "ttft"
    shared_scale: bool = True

    @property
    def in_memory(self) -> bool:
        """Whether it shows no more than what is held in memory."""
        return self.period.live and self.period.length_ms <= SPAN_MS and self.vantage is None

    @property
    def ranked(self) -> bool:
        """Whether it shows the group view."""
        return self.groups == "side by side"

    @property
    def ranking(self) -> Rank | None:
        """The figure by which members of groups are ranked; None outside the group view."""
        return self.rank if self.ranked else None


def next_of(options: Sequence[T], current: T, step: int = 1) -> T:
    """The option after (or before) the current one, round and round; the first where it is none of them."""
    return options[(options.index(current) + step) % len(options)] if current in options else options[0]


def lengths(*, simulated: bool) -> tuple[int, ...]:
    """The lengths on offer, shortest first; a minute where the engine simulates: real cadences leave it empty."""
    return tuple(length for name, length in LENGTHS.items() if simulated or name != "1 m")


def lens_on(window: str) -> ViewOptions:
    """A lens on the window of that name, blanks or none. Raises ValueError where there is no such window."""
    by_name = {name.replace(" ", ""): length for name, length in LENGTHS.items()}
    try:
        return ViewOptions(Period(by_name[window.replace(" ", "")]))
    except KeyError:
        raise ValueError(f"a window is one of {', '.join(by_name)}") from None


def matches(view: EndpointView, query: str) -> bool:
    """Whether every word of the query occurs in the endpoint's name, provider, model, group or state."""
    facts = view.facts
    text = " ".join((facts.name, facts.provider, facts.model, facts.group or "", view.state)).lower()
    return all(word in text for word in query.lower().split())


def arranged(views: Sequence[EndpointView], lens: ViewOptions) -> tuple[tuple[EndpointView, ...], dict[str, str]]:
    """The views to draw, in order, and the heading above an endpoint by its name.

    A group is a model that at least two endpoints share; the rest comes last. Groups stand in the order of
    their first member, members in the order asked for; ties keep the configured order. Unknown figures sort
    last. For the group view see `_in_blocks`.
    """
    if lens.ranked:
        return _in_blocks(views, lens)
    shown = sorted((view for view in views if matches(view, lens.query)), key=_ORDERS[lens.sort])
    if lens.groups == "none":
        return tuple(shown), {}
    by_model = grouped(shown)
    shared = {name: members for name, members in by_model.items() if len(members) > 1}
    if not shared:
        return tuple(shown), {}
    alone = [members[0] for members in by_model.values() if len(members) == 1]
    headings = {members[0].name: name for name, members in shared.items()}
    if alone:
        headings[alone[0].name] = OTHERS
    return tuple(view for members in [*shared.values(), alone] for view in members), headings


def _in_blocks(views: Sequence[EndpointView], lens: ViewOptions) -> tuple[tuple[EndpointView, ...], dict[str, str]]:
    """The same for the group view: members in the order of their places, whatever part of a group the filter leaves."""
    headings: dict[str, str] = {}
    blocks: list[EndpointView] = []
    for name, group in grouped([view for view in views if view.standing]).items():
        shown = sorted((view for view in group if matches(view, lens.query)), key=_place)
        if shown:
            of_all = f"{len(group)} endpoints"
            count = of_all if len(shown) == len(group) else f"{len(shown)} of {of_all}"
            headings[shown[0].name] = f"{name} · {count}"
            blocks.extend(shown)
    alone = [view for view in views if not view.standing and matches(view, lens.query)]
    if alone:
        headings[alone[0].name] = OTHERS if any(view.standing for view in views) else NOTHING_SHARED
    return (*blocks, *alone), headings


def _place(view: EndpointView) -> tuple[bool, float]:
    return unknown_last(view.standing.place if view.standing else None)


_ORDERS: Final[dict[Sort, Callable[[EndpointView], Any]]] = {
    "configured": lambda view: view.slot,
    "name": lambda view: view.name.lower(),
    "ttft": lambda view: unknown_last(view.figures.ttft_p50_ms),
    "tokens/s": lambda view: unknown_last(view.figures.tokens_per_s_p50, -1),
    "errors": lambda view: unknown_last(view.figures.error_rate, -1),
    "state": lambda view: STATES.index(view.state),
}
