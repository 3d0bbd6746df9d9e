"""Detail: the selected endpoint's last probe, its last failures in words, and its last answer."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.events import Resize
from textual.widgets import Static

from probes.diagnosis.attribution import Attribution
from probes.sample import Sample
from probes.text import line
from tui.sample.waterfall import Waterfall
from tui.sample.words import figures
from tui.state.attribution import reasons
from tui.state.health import due
from tui.state.rate_limits import LimitLevel
from tui.state.served_by import other_tier
from tui.state.view import EndpointView, LaneFigures
from tui.style.format import DASH, clock, number, stamp, times, until
from tui.style.palette import endpoint_color
from tui.widgets.spark import CHANGE

WIDE: Final = 120
"""Cells of width from which the waterfall stands beside failures and answer instead of above them."""

TALL: Final = 11
"""Rows from which the waterfall has a row for each part."""

FAILURES_SHOWN: Final = 6
ATTRIBUTION_ROWS: Final = 2
FIGURE_ROWS: Final = 3
LANES_FROM: Final = TALL + 2
"""Rows from which there is room for the lanes of an endpoint that is probed warm and cold."""

LIMIT_ROWS: Final = 2

LANE_WIDTHS: Final = (3, 5, 5, 5)
"""Cells for a lane's count, two times and a speed, so that nothing moves as they grow; a line has at most 78."""

_BETWEEN: Final = "  ·  "


def title(
    view: EndpointView, sample: Sample | None, width: int, due: str = "", at: int | None = None, *, dark: bool
) -> Text:
    """Endpoint, model, what served it, connection, time of the last probe and of the next; its request id if it fits.

    ``due`` is the time to the next probe in words; times are seen from ``at`` (ms since the epoch).
    """
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(view.name, style=f"bold {endpoint_color(view.slot, dark=dark)}")
    facts = view.facts
    asked = facts.model if facts.provider in facts.name else f"{facts.provider} {facts.model}"
    text.append(f"  {asked}{_served(sample, facts.tier)}")
    if sample is None:
        return text.append(f"  {view.why or 'no sample yet'}", style="dim")
    if sample.connection:
        text.append(f"  {sample.connection}")
    text.append(f"  {stamp(sample.started_at, at)}")
    if view.state == "limited" and view.hit_by:
        text.append(f"  limited: {line(view.hit_by)}", style="bold")
    if view.state in ("spoilt", "stale"):
        text.append(f"  {view.why}", style="bold")
    text.append(f"  {due}" if due else "", style="dim")
    request = f"  {line(sample.request_id)}" if sample.request_id else ""
    if cell_len(text.plain) + cell_len(request) <= width:
        text.append(request, style="dim")
    return text


def _served(sample: Sample | None, asked: str | None) -> str:
    """`` → model by provider (tier)``: what served, as far as it differs from the request; another tier is noted."""
    if sample is None:
        return ""
    model = line(sample.served_model) if sample.served_model and sample.served_model != sample.model else ""
    by = f"by {line(sample.served_by)}" if sample.served_by else ""
    other = f", not {asked}" if other_tier(asked, sample.served_tier) else ""
    tier = f"({line(sample.served_tier)}{other})" if sample.served_tier else ""
    words = " ".join(word for word in (model, by, tier) if word)
    return f" → {words}" if words else ""


def median_ratios(view: EndpointView) -> list[str]:
    """The endpoint's medians over the best of its group, in words; empty where it is alone in its group."""
    ratios = (("TTFT", view.ttft_ratio), ("tokens/s", view.tokens_per_s_ratio))
    words = ", ".join(f"{name} {times(ratio)}" for name, ratio in ratios if ratio is not None)
    return [f"medians against the group's best: {words}"] if words else []


def limits(view: EndpointView, at: int | None) -> list[str]:
    """The rate-limit buckets in words, the tightest first, and the last hit after it; times are seen from ``at``."""
    found = [_level(one, at) for one in view.levels]
    if view.hit_at is not None:
        by = f" by {line(view.hit_by)}" if view.hit_by else ""
        found.insert(1, f"last hit {stamp(view.hit_at, at)}{by}")
    return found


def _level(level: LimitLevel, at: int | None) -> str:
    bucket = level.bucket
    left, limit = (None if one is None else int(one) for one in (bucket.remaining, bucket.limit))
    words = f"{bucket.words} {number(left)}" + (" left" if limit is None else f" of {number(limit)}")
    full, empty = (DASH if at is None else until(instant, at) for instant in (level.full_at, level.empty_at))
    words += f", full in {full}" if full != DASH else ""
    return words + (f", empty in {empty} at this pace" if empty != DASH else "")


def changes(view: EndpointView) -> list[str]:
    """The changes of what served the endpoint, in words, the newest first."""
    return [
        f"{CHANGE} {clock(one.at)} {one.word} {line(one.before)} → {line(one.after)}" for one in reversed(view.changes)
    ]


def failure(sample: Sample, at: int | None = None) -> str:
    """One failed probe in words: when, seen from ``at``, how, and why."""
    words = f"{stamp(sample.started_at, at)}  {sample.outcome.value.replace('_', ' ')}"
    return f"{words}: {line(sample.outcome_detail)}" if sample.outcome_detail else words


def failures_text(
    failures: Sequence[Sample], rows: int, attribution: Attribution | None = None, at: int | None = None
) -> Text:
    """What the failures are attributed to, if known: a row for it, one for the evidence (one for both if rows are few).

    Then the newest failures, one a row, and behind the last how many more are known.
    """
    newest = sorted(failures, key=lambda one: one.started_at, reverse=True)
    if not newest:
        return Text("no failure known")
    text = Text(no_wrap=True, overflow="ellipsis")
    if attribution is not None:
        first, *rest = map(line, reasons(attribution))
        between = "\n  " if rows > ATTRIBUTION_ROWS else "; "
        text.append(first, style="bold").append(between + "; ".join(rest) if rest else "").append("\n")
        rows = rows - ATTRIBUTION_ROWS if rows > ATTRIBUTION_ROWS else rows
    for place, one in enumerate(newest[:rows]):
        text.append("\n✕ " if place else "✕ ").append(failure(one, at))
    more = len(newest) - rows
    return text.append(f"  (+{more} earlier)", style="dim") if more > 0 else text


def lanes_lines(lanes: Sequence[LaneFigures]) -> list[str]:
    """A line for each lane over the window, their figures under each other; set-up for the cold lane, which pays it."""
    cells = [
        [number(value) for value in (one.measured, one.ttft_p50_ms, one.ttft_p95_ms, one.tokens_per_s_p50)]
        for one in lanes
    ]
    widths = [max([least, *map(len, column)]) for least, *column in zip(LANE_WIDTHS, *cells, strict=True)]
    lines = []
    for one, values in zip(lanes, cells, strict=True):
        count, p50, p95, speed = (value.rjust(width) for value, width in zip(values, widths, strict=True))
        setup = f"  set-up p50 {number(one.setup_p50_ms)} ms" if one.lane == "cold" else ""
        lines.append(f"{one.lane}  n {count}  TTFT p50 {p50} p95 {p95} ms  tok/s p50 {speed}{setup}")
    return lines


class Detail(Container):
    """Everything about one endpoint's last probe, given to `show`; it arranges itself in the room it has."""

    DEFAULT_CSS = """
    Detail {
        height: auto;
        padding: 0 1;
        #title { height: 1; }
        #figures { height: auto; }
        #lanes { height: auto; display: none; text-wrap: nowrap; text-overflow: ellipsis; }
        #limits { height: auto; color: $text-muted; }
        #body { layout: vertical; height: 1fr; }
        #words { height: 1fr; }
        #failures { height: auto; max-height: 6; color: $text-muted; }
        #failures.-some { color: $text-error; }
        #answer { height: 1fr; color: $text-muted; }
        Waterfall { height: 1; }
        &.-tall Waterfall { height: auto; max-height: 10; margin: 1 0; }
        &.-wide #body { layout: horizontal; }
        &.-wide Waterfall { width: 1fr; height: auto; max-height: 10; margin: 1 3 0 0; }
        &.-wide #words { width: 1fr; margin-top: 1; }
        &.-tall #answer, &.-wide #answer { margin-top: 1; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name for it
        super().__init__(id=id)
        self._title = Static(id="title")
        self._figures = Static(id="figures")
        self._lanes = Static(id="lanes")
        self._limits = Static(id="limits")
        self._waterfall = Waterfall()
        self._failures = Static(id="failures")
        self._answer = Static(id="answer")
        self._shown: tuple[EndpointView | None, Sample | None, tuple[Sample, ...], str] = (None, None, (), "")
        self._at: int | None = None
        self._due = ""
        self._lanes_drawn: tuple[LaneFigures, ...] = ()
        self._limits_drawn: object = None
        self._drawn: object = None
        self._title_drawn: object = None

    def compose(self) -> ComposeResult:
        """Title and figures over the waterfall and the words."""
        yield self._title
        yield self._figures
        yield self._lanes
        yield self._limits
        with Container(id="body"):
            yield self._waterfall
            with Vertical(id="words"):
                yield self._failures
                yield self._answer

    def show(
        self,
        view: EndpointView | None,
        sample: Sample | None,
        failures: Sequence[Sample],
        answer: str,
        at: int | None = None,
    ) -> None:
        """Show this endpoint: its last sample, its known failures in any order, its last answer's text.

        From ``at`` (ms since the epoch) the time to the next probe is counted; without it that is left out.
        """
        self._shown = (view, sample, tuple(failures), answer)
        self._at = at
        self._due = due(view.monitor, at) if view and at is not None else ""
        self._draw()

    def on_resize(self, event: Resize) -> None:
        """Choose an arrangement for the new size."""
        wide = event.size.width >= WIDE and event.size.height >= TALL
        self.set_class(wide, "-wide")
        self.set_class(not wide and event.size.height >= TALL + 4, "-tall")
        self._draw()

    def _draw(self) -> None:
        view, sample, failures, answer = self._shown
        theme, size = self.app.current_theme, self.size
        name = (view.name, view.slot, view.why, view.state, view.hit_by, view.facts) if view else None
        group = median_ratios(view) if view else []
        attribution = view.attribution if view else None
        roomy = self.has_class("-wide") or self.has_class("-tall")  # set by on_resize, after `size` has changed
        content = (name, group, sample, failures, answer, theme.name, size, roomy, attribution)
        if not size.width:
            return
        if (content, self._due) != self._title_drawn:  # it counts down; the rest stays while there is nothing new
            self._title_drawn = content, self._due
            named = (
                title(view, sample, size.width, self._due, self._at, dark=theme.dark)
                if view
                else "no endpoint selected"
            )
            self._title.update(named)
        self._draw_lanes(view)
        self._draw_limits(view, LIMIT_ROWS if roomy else 1)
        if content == self._drawn:
            return
        self._drawn = content
        self._waterfall.show(sample)
        self._waterfall.display = sample is not None
        rows = FIGURE_ROWS if roomy else 1 + (size.height > TALL // 2)
        self._figures.update(_wrapped([*figures(sample), *group], size.width, rows) if sample else "")
        self._failures.update(
            failures_text(failures, FAILURES_SHOWN if roomy else 1, attribution, self._at) if view else ""
        )
        self._failures.set_class(bool(failures), "-some")
        self._answer.update(Text(line(answer, size.width * size.height)))

    def _draw_lanes(self, view: EndpointView | None) -> None:
        """Draw two rows where the endpoint has two lanes and there is room, also without any sample; else none."""
        lanes = view.figures.lanes if view and self.size.height >= LANES_FROM else ()
        if lanes != self._lanes_drawn:
            self._lanes_drawn = lanes
            self._lanes.update(Text("\n".join(lanes_lines(lanes)), no_wrap=True, overflow="ellipsis"))
            self._lanes.display = bool(lanes)

    def _draw_limits(self, view: EndpointView | None, rows: int) -> None:
        """Draw the rows of limits, whose times count down, and the one of changes; without either they take no room."""
        width = self.size.width
        parts = [_wrapped(limits(view, self._at), width, rows), _wrapped(changes(view), width, 1)] if view else []
        limits_text = Text("\n", no_wrap=True, overflow="ellipsis").join(part for part in parts if part)
        if limits_text != self._limits_drawn:
            self._limits_drawn = limits_text
            self._limits.update(limits_text)
            self._limits.display = bool(limits_text)


def _wrapped(parts: Sequence[str], width: int, most: int) -> Text:
    """The parts side by side, broken only between them, in at most ``most`` rows; what does not fit is left out."""
    rows: list[str] = []
    for part in parts:
        joined = f"{rows[-1]}{_BETWEEN}{part}" if rows else part
        if rows and cell_len(joined) <= width:
            rows[-1] = joined
        else:
            rows.append(part)
    return Text("\n".join(rows[:most]), no_wrap=True, overflow="ellipsis")
