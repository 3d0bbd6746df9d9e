"""Fleet: all the screen knows of its endpoints; messages go in, one frozen `Dashboard` a tick comes out."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from probes.certificate import Certificate
from probes.diagnosis.attribution import Attribution, LastProbe, attribute, worst
from probes.diagnosis.reachability import ReachabilityCheck
from probes.feed.messages import EndpointFacts, EngineStatus, Frame, Hello, MonitorStatus
from probes.outcome import FAILED, INCONCLUSIVE, Outcome
from probes.sample import Sample
from tui.sources.messages import LineRejected, Message, RecorderAbsent, RecorderJoined, SourceLost
from tui.state.attribution import lately, recent
from tui.state.figures import figures, window_start
from tui.state.health import state
from tui.state.history import SPAN_MS, History, LoadedHistory
from tui.state.ranking import compared
from tui.state.rate_limits import LimitLevel
from tui.state.served_by import EndpointSignals, other_tier, tier_of
from tui.state.view import Dashboard, EndpointView, EngineLink, Figures
from tui.state.view_options import ViewOptions, arranged
from tui.time.time_grid import TimeGrid

if TYPE_CHECKING:  # the first picture needs no rollups
    from tui.state.rollup_figures import RollupWindow

FAILURES_KEPT: Final = 20
UNPROBED: Final = frozenset({"paused", "no key", "budget", "waiting", "spoilt"})
"""States in which the newest sample tells nothing of now."""

AHEAD_MS: Final = 10_000
"""A newest sample so far in the future is none: two machines' clocks may differ, but by less."""

SILENT_AFTER_MS: Final = 3_000
"""An engine that lives sends a frame at least every second."""


@dataclass(frozen=True, slots=True, eq=False)
class Recent:
    """What is shown of single samples of an endpoint: the newest sent, the last failures (newest first), the answer."""

    sample: Sample | None = None
    failures: tuple[Sample, ...] = ()
    answer: str = ""


@dataclass(slots=True)
class EndpointState:
    """One endpoint as the screen knows it; ``last`` is its newest sample, ``last_sent`` the newest sent."""

    facts: EndpointFacts
    slot: int
    watch: MonitorStatus
    history: History = field(default_factory=History)
    last: Sample | None = None
    last_sent: Sample | None = None
    hit: Sample | None = None
    told: EndpointSignals = field(default_factory=EndpointSignals)
    failures: deque[Sample] = field(default_factory=lambda: deque(maxlen=FAILURES_KEPT))
    answer: str = ""
    drawn: tuple[tuple[TimeGrid, int, int, int, bool], Figures] | None = None
    since: tuple[int, LastProbe] | None = None

    def take(self, sample: Sample, now: int) -> None:
        """Take a live sample in; one that is already known (from the store) changes nothing."""
        self.last, self.last_sent, self.hit = (
            None if one is not None and one.started_at > now + AHEAD_MS else one  # the clock has been set back since
            for one in (self.last, self.last_sent, self.hit)
        )
        if self.history.add(sample):
            self.remember(sample)
        self.told.hear(sample)  # its point may have come from the store, without what it told

    def remember(self, sample: Sample) -> None:
        """Keep what is shown of single samples: the newest, the last hit, the failures (oldest first)."""
        if self.last is None or sample.started_at >= self.last.started_at:
            self.last = sample
        if sample.outcome in FAILED and all(one.started_at != sample.started_at for one in self.failures):
            self.failures = deque(
                sorted((*self.failures, sample), key=lambda one: one.started_at), maxlen=FAILURES_KEPT
            )
        if sample.outcome in INCONCLUSIVE:
            return
        if self.last_sent is None or sample.started_at >= self.last_sent.started_at:
            self.last_sent = sample
        if sample.outcome is Outcome.RATE_LIMITED and (self.hit is None or sample.started_at >= self.hit.started_at):
            self.hit = sample

    def figures(self, on: TimeGrid, since: int, now: int, *, fully: bool) -> Figures:
        """The figures over a grid, computed again only when the window moved on or the history changed."""
        key = (on, since, self.history.version, self.history.span(since, now).stop, fully)
        if self.drawn is None or self.drawn[0] != key:
            self.drawn = (key, figures(self.history, self.facts, on, since, now, fully=fully))
        return self.drawn[1]

    def lately(self) -> LastProbe | None:
        """What its newest sent sample tells; made again only when the history changed."""
        if self.last_sent is None:
            return None
        if self.since is None or self.since[0] != self.history.version:
            self.since = (self.history.version, lately(self.facts, self.last_sent, self.history))
        return self.since[1]


class FleetState:
    """Endpoints in the order of the configuration, the engine's status and the link to it.

    ``longest_name`` is the width of the longest name in cells, ``vantages`` the places the store knows them from, where
    there are several. `apply` takes what a source delivers, `dashboard` makes the frozen value of one tick; both run on
    the screen's loop, so nothing is locked.
    """

    def __init__(self, endpoints: Iterable[EndpointFacts] = (), now: int = 0) -> None:
        self.endpoints: dict[str, EndpointState] = {}
        self.longest_name = 0
        self.engine: EngineStatus | None = None
        self.link = EngineLink(since=now)
        self.store_url: str | None = None
        self.certificate: Certificate | None = None
        self.vantages: tuple[str, ...] = ()
        self._heard_at = now
        self._judged: tuple[tuple[list[LastProbe], tuple[ReachabilityCheck, ...]], dict[str, Attribution]] | None = None
        self._know(endpoints)

    def apply(self, message: Message, now: int) -> None:
        """Take one message in."""
        if isinstance(message, Frame):
            self._frame(message, now)
        elif isinstance(message, Hello):
            self._know(message.endpoints)
            self.store_url = message.store_url
            self.link = replace(self.link, simulated=message.simulated)
        elif isinstance(message, RecorderJoined):
            self.link = replace(self.link, phase="attached", since=now, holder=message.holder, retry_at=None)
        elif isinstance(message, RecorderAbsent):
            self.link = replace(self.link, phase="unrecorded", since=message.since or 0, holder=None, retry_at=None)
        elif isinstance(message, SourceLost):
            self.link = replace(
                self.link,
                phase="lost",
                since=now,
                reason=message.reason,
                retry_at=message.retry_at,
                restarts=self.link.restarts + 1,
                holder=None,
            )
        elif isinstance(message, LineRejected):
            self.link = replace(self.link, bad_lines=self.link.bad_lines + 1)
        self._heard_at = now

    def _know(self, endpoints: Iterable[EndpointFacts]) -> None:
        """The endpoints there are now; what is known of those that stay is kept."""
        before, self.endpoints = self.endpoints, {}
        for slot, facts in enumerate(endpoints):
            watched = before.get(facts.name) or EndpointState(facts, slot, MonitorStatus(facts.name))
            watched.facts, watched.slot, watched.drawn = facts, slot, None
            self.endpoints[facts.name] = watched
        self.longest_name = max((cell_len(name) for name in self.endpoints), default=0)

    def _frame(self, frame: Frame, now: int) -> None:
        self.engine = frame.engine
        if self.link.phase not in ("live", "attached", "unrecorded"):
            self.link = replace(self.link, phase="live", since=now, retry_at=None, reason="")
        for watch in frame.watches:
            if (watched := self.endpoints.get(watch.endpoint)) is not None and watched.watch != watch:
                watched.watch = watch
        for sample in frame.samples:
            if (watched := self.endpoints.get(sample.endpoint)) is not None:
                watched.take(sample, now)
        for name, answer in (frame.answers or {}).items():
            if (watched := self.endpoints.get(name)) is not None:
                watched.answer = answer

    def load(self, past: LoadedHistory) -> None:
        """Take in what the store holds: points, and single samples worth showing."""
        self.certificate = past.certificate or self.certificate
        self.vantages = past.vantages or self.vantages
        for name, history in past.histories.items():
            if (watched := self.endpoints.get(name)) is not None:
                watched.history.join(history)
        for sample in past.samples:
            if (watched := self.endpoints.get(sample.endpoint)) is not None:
                watched.remember(sample)
        for name in {*past.readings, *past.seen, *past.changes}:
            if (watched := self.endpoints.get(name)) is not None:
                watched.told.join(past.readings.get(name, ()), past.seen.get(name, ()), past.changes.get(name, ()))
        for name, answer in (past.answers or {}).items():
            if (watched := self.endpoints.get(name)) is not None and not watched.answer:
                watched.answer = answer

    def recent(self, name: str | None) -> Recent:
        """Single samples of one endpoint; nothing of an unknown one."""
        watched = self.endpoints.get(name or "")
        if watched is None:
            return Recent()
        return Recent(watched.last_sent, tuple(reversed(watched.failures)), watched.answer)

    def dashboard(
        self,
        options: ViewOptions,
        columns: int,
        now: int,
        selected: str | None = None,
        stretch: "RollupWindow | None" = None,
    ) -> Dashboard:
        """The screen at ``now``; ``columns`` is how many slices of time the visible panel can draw.

        With a ``stretch`` the figures are its, and its span and its place are shown, not those of the options.
        """
        asked = stretch.question if stretch else None
        length = asked.length_ms if asked else min(options.period.length_ms, SPAN_MS)
        past = asked is not None and not asked.live
        if stretch and past:
            seen = [stretch.row(one.facts, one.slot) for one in self.endpoints.values()]
        else:
            seen = self._present(options, length, columns, now)
            seen = [stretch.under(one) for one in seen] if stretch else seen
        views = compared(seen, options.ranking)
        shown, groups = arranged(views, options)
        names = [view.name for view in shown]
        return Dashboard(
            at=asked.at if asked and past else now,
            window_ms=length,
            grid=asked.grid if asked else TimeGrid.of_window(length, columns, now),
            endpoints=shown,
            link=self.link_at(now),
            engine=self.engine,
            groups=groups,
            states=dict(Counter(view.state for view in views)),
            total=len(views),
            untrusted=sum(sum(view.figures.untrusted) for view in views),
            own_faults=sum(sum(view.figures.own_faults) for view in views),
            buffered=sum(view.figures.buffered for view in views),
            certificate=self.certificate,
            selected=selected if selected in names else next(iter(names), None),
            verdict=worst({view.name: view.verdict for view in views if view.verdict and view.state == "failing"}),
            past=past,
            vantage=asked.vantage if asked else None,
        )

    def _present(self, options: ViewOptions, length_ms: int, columns: int, now: int) -> list[EndpointView]:
        """The rows of now, over a window that ends now and is no longer than memory reaches."""
        length = min(length_ms, SPAN_MS)
        on, since = TimeGrid.of_window(length, columns, now), window_start(length, now)
        seen = [self._view(one, on, since, now, fully=options.ranked) for one in self.endpoints.values()]
        verdicts = self._verdicts(seen, now)
        return [replace(one, verdict=verdicts.get(one.name)) for one in seen]

    def _verdicts(self, views: Iterable[EndpointView], now: int) -> dict[str, Attribution]:
        """Who is to blame for what fails, from the endpoints that are being probed; judged anew only after news."""
        probed = (self.endpoints[view.name].lately() for view in views if view.state not in UNPROBED)
        heard = [one for one in probed if one is not None]
        checks = recent(self.engine.checks, now) if self.engine else ()
        if self._judged is None or self._judged[0] != (heard, checks):
            self._judged = (heard, checks), attribute(heard, checks)
        return self._judged[1]

    def link_at(self, now: int) -> EngineLink:
        """The link at ``now``: found silent where a living engine would have spoken."""
        quiet = now - self._heard_at > SILENT_AFTER_MS
        return (
            replace(self.link, phase="silent", since=self._heard_at)
            if quiet and self.link.phase == "live"
            else self.link
        )

    def _view(self, watched: EndpointState, on: TimeGrid, since: int, now: int, *, fully: bool) -> EndpointView:
        shown = watched.figures(on, since, now, fully=fully)
        word, why = state(watched.facts, watched.watch, self.engine, shown, watched.last, watched.last_sent, now)
        told, sent, asked = watched.told, watched.last_sent, watched.facts.tier
        tightest, tier = next(iter(told.levels), None), tier_of(told.seen)
        return EndpointView(
            facts=watched.facts,
            slot=watched.slot,
            state=word,
            why=why,
            figures=shown,
            watch=watched.watch,
            served=None if sent is None else served(sent),
            last_at=None if sent is None else sent.started_at,
            last_outcome=None if watched.last is None else watched.last.outcome,
            last_failure=watched.failures[-1].outcome if watched.failures else None,
            levels=told.levels,
            headroom=None if tightest is None else tightest.headroom,
            reset_at=reset_at(told.levels, watched.watch),
            empty_at=None if tightest is None else tightest.empty_at,
            hit_at=None if watched.hit is None else watched.hit.started_at,
            hit_by=None if watched.hit is None else watched.hit.limited_by,
            other_tier=tier if other_tier(asked, tier) else None,
            changes=told.changes,
        )


def reset_at(levels: Sequence[LimitLevel], watch: MonitorStatus) -> int | None:
    """When the limiter lets us through: the end of the back-off, else when the tightest bucket is full again."""
    if watch.blocked_until is not None and not watch.failing:
        return watch.blocked_until
    return levels[0].full_at if levels else None


def served(sample: Sample) -> str | None:
    """Who really served, where that is not simply what was asked for."""
    if sample.served_by:
        return sample.served_by
    model = sample.served_model
    if not model or model == sample.model or model.startswith(sample.model) or sample.model.endswith(model):
        return None
    return model
