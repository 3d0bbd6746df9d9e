"""One endpoint of the dashboard as one or two lines of styled text, in fixed columns; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size

from probes.stats.quantiles import known, quantile
from probes.text import line
from tui.dashboard.columns import AGE, BUCKET, HEADROOM, HITS, KIND, RESET, Columns
from tui.state.rate_limits import short
from tui.state.view import Dashboard, EndpointView
from tui.style.format import DASH, number, percent, since, until, whole_percent
from tui.style.palette import LOOKS, SLOTS, Piece
from tui.time.time_grid import TimeGrid
from tui.widgets.grid import BAR, CURSOR
from tui.widgets.spark import CHANGE, FAILURE, HOLLOW, QUIET, bars, counts, nice_ceiling, paired

OTHER_TIER: Final = "≠"
LEAST_HITS: Final = 4
"""The rate-limit scale never ends below this: a single hit must not look like a wall."""


@dataclass(frozen=True, slots=True)
class Scales:
    """The value at the top of each sparkline; all begin at 0. None where there is nothing to draw."""

    ttft_ms: float | None
    tokens_per_s: float | None
    hits: int


def scales(views: Sequence[EndpointView]) -> Scales:
    """Round scales on which these endpoints can be compared.

    The TTFT scale reaches their highest p95, so that one outlier does not flatten everybody; what lies above it is
    drawn as a full block. In a long window, where every slice has its outlier, it reaches four fifths of the slices.
    The other two reach the highest value shown.
    """
    times = [value for view in views for value in (view.figures.ttft_p95_ms, _usual_worst(view)) if value is not None]
    speeds = [speed for view in views for speed in view.figures.tokens_per_s if speed is not None]
    hits = [hit for view in views for hit in view.figures.hits]
    return Scales(
        ttft_ms=nice_ceiling(max(times)) if times else None,
        tokens_per_s=nice_ceiling(max(speeds)) if speeds else None,
        hits=max(LEAST_HITS, *hits, 0),
    )


def _usual_worst(view: EndpointView) -> float | None:
    """The 80th percentile of an endpoint's worst TTFT by slice, ms."""
    return quantile(known(view.figures.ttft_ms), 0.8)


def head(columns: Columns, shown: Scales | None) -> str:
    """The line above the rows, with the scales where all rows share them (``shown`` None: each row has its own)."""

    def title(words: Sequence[str], top: float | None) -> str:
        # the blanks before "last" are the title's too
        room = columns.spark + columns.figure - len("last ")
        if shown is None:
            scales = [f"{words[0]}   each its own"]
        elif top is None:
            scales = []
        else:
            end = number(top)
            scales = [
                f"{words[0]}   0 – {end}",
                *(f"{word} 0 – {end}" for word in words),
                *(f"{word} ≤{end}" for word in words),
            ]
        text = next((one for one in [*scales, *words] if len(one) <= room), "")
        return text.ljust(columns.spark) + "last".rjust(columns.spark + columns.figure - max(len(text), columns.spark))

    def figures(*names: str | bool) -> str:
        return "".join(name.rjust(columns.figure) for name in names if isinstance(name, str))

    gap = " " * columns.gap
    ttft, speed = (None, None) if shown is None else (shown.ttft_ms, shown.tokens_per_s)
    errors = "errors".ljust(columns.half) if columns.half >= 6 else " " * columns.half
    room = columns.half + HITS * columns.hits
    limits = "rate limits" if room >= 11 else "limits" if columns.half else "429s".rjust(room) if room else ""
    parts = [
        "  " + "endpoint".ljust(columns.name + 1) + "state".ljust(columns.state),
        title(("TTFT ms", "TTFT"), ttft) + figures(columns.ttft_p50 and "p50", columns.ttft_p95 and "p95"),
        title(("tokens/s", "tok/s"), speed) + figures(columns.speed_p50 and "p50"),
        errors
        + figures("rate" if columns.half >= 6 else "errors", columns.error_count and "count")
        + ("  last".ljust(KIND) if columns.error_kind else ""),
        limits.ljust(room)
        + ("left".rjust(HEADROOM) if columns.headroom else "")
        + ("  bucket".ljust(BUCKET) if columns.bucket else "")
        + ("reset".rjust(RESET) if columns.reset else ""),
    ]
    times = ("age".rjust(AGE) if columns.age else "") + ("next".rjust(AGE) if columns.due else "")
    return gap.join(parts) + times


def row(view: EndpointView, columns: Columns, scale: Scales, board: Dashboard, *, tall: bool) -> list[list[Piece]]:
    """The endpoint's one line of pieces, or two where rows are tall."""
    lines = _Lines(columns, tall=tall)
    look = LOOKS[view.state]
    selected = view.name == board.selected
    lines.add(CURSOR if selected else " ", "cursor")
    lines.add(BAR, f"slot{view.slot % SLOTS}", below=BAR)
    title = _title(view, columns.name)
    lines.cells(title, below=_subtitle(view, columns.name, "".join(text for text, _ in title)))
    lines.add(
        f"{look.glyph} {view.state}".ljust(columns.state), look.variable, below=_below_state(view, columns, board)
    )
    lines.gap()
    if view.why and not any(view.figures.covered):
        # nothing to draw: what to do about it has the rest of the line
        lines.add(_sized(line(view.why), columns.width - sum(cell_len(text) for text, _ in lines.pieces[0])), "hint")
        return lines.pieces
    _timing(lines, view, scale, board.grid)
    lines.gap()
    _errors(lines, view, board.grid.newest)
    lines.gap()
    _limits(lines, view, scale, board)
    if columns.age:
        lines.add(since(view.last_at, board.at).rjust(AGE), "usual")
    if columns.due:
        due = "now" if view.monitor.running else until(view.monitor.next_due, board.at)
        lines.add(due.rjust(AGE), "usual")
    return lines.pieces


def _below_state(view: EndpointView, columns: Columns, board: Dashboard) -> str:
    """How old the newest sample is; or that the endpoint is backed off after a failure."""
    if view.monitor.failing:
        return "  backed off" if columns.state >= cell_len("  backed off") else "  waits"
    age = "" if view.last_at is None else f"  {since(view.last_at, board.at)}"
    return age + (" ago" if age and len(age) + 4 < columns.state else "")


def drawn_state(view: EndpointView, columns: Columns, board: Dashboard) -> tuple[object, ...]:
    """All that `row` draws of a view at this instant: while it is equal, the row looks the same."""
    return (
        view.figures,  # compares by identity: FleetState makes new ones only when something changed
        view.slot,
        view.state,
        view.why,
        view.served,
        view.facts,
        view.last_failure,
        view.levels,
        view.hit_by,
        view.other_tier,
        view.changes,
        view.monitor.failing,
        since(view.last_at, board.at),
        _refill_or_empty(view, board.at),
        columns.due and (view.monitor.running or until(view.monitor.next_due, board.at)),
        view.name == board.selected,
    )


class _Lines:
    """The lines of one row as they grow to the right; a cell is as wide on the second line as on the first."""

    def __init__(self, columns: Columns, *, tall: bool) -> None:
        self.columns = columns
        self.pieces: list[list[Piece]] = [[], []] if tall else [[]]

    def add(self, text: str, style: str, below: str = "") -> None:
        """A cell; ``below`` stands under it, dim, where rows are tall (a colour bar keeps its colour)."""
        self.pieces[0].append((text, style))
        for second in self.pieces[1:]:
            second.append((_sized(below, cell_len(text)), style if below == BAR else "dim"))

    def cells(self, pieces: Sequence[Piece], below: str) -> None:
        """Cells that share what stands below them."""
        rest = _sized(below, sum(cell_len(text) for text, _ in pieces))
        for text, style in pieces:
            under = _sized(rest, cell_len(text))
            self.add(text, style, under)
            rest = rest[len(under) :]

    def gap(self) -> None:
        """The blank between two sections."""
        self.add(" " * self.columns.gap, "dim")

    def figure(self, text: str, style: str, below: str = "") -> None:
        """A number, right-aligned in its column."""
        self.add(text.rjust(self.columns.figure), style, below.rjust(self.columns.figure))

    def spark(self, drawn: list[str], width: int, style: str) -> None:
        """A sparkline of as many rows as there are lines; failures and quiet time have styles of their own."""
        for pieces, text in zip(self.pieces, drawn, strict=True):
            text = text[len(text) - width :] if len(text) > width else text.rjust(width)
            begin = 0
            for end in range(1, width + 1):
                if end == width or _mark(text[end]) != _mark(text[begin]):
                    pieces.append((text[begin:end], _mark(text[begin]) or style))
                    begin = end


def _mark(character: str) -> str:
    """The style of a character of a sparkline that is not a bar."""
    return {FAILURE: "error", QUIET: "quiet", CHANGE: "figure", HOLLOW: "limit"}.get(character, "")


def _sized(text: str, width: int) -> str:
    """Text cut or padded to a width in cells."""
    return set_cell_size(text, width)


def _title(view: EndpointView, width: int) -> list[Piece]:
    """The name, and where there is room what served it: another model or provider, another tier than the one requested.

    The result is ``width`` + 1 cells wide; the last one holds a mark where there is no room for the tier.
    """
    tier = _tiers(view)
    both = f"{view.name} → {line(view.served)}" if view.served else view.name
    for name in (both, view.name):
        if tier and cell_len(name) + 2 + cell_len(tier) <= width:
            return [(f"{name}  ", "name"), (_sized(tier, width + 1 - cell_len(name) - 2), "warning")]
    name = both if cell_len(both) <= width else view.name
    if not tier:
        return [(_sized(name, width + 1), "name")]
    taken = min(cell_len(name) + 1, width)
    return [(_sized(name, taken), "name"), (_sized(OTHER_TIER, width + 1 - taken), "warning")]


def _tiers(view: EndpointView) -> str:
    """``fast → standard``: the tier requested and the one served; empty where they are the same."""
    return f"{view.facts.tier} → {line(view.other_tier)}" if view.other_tier else ""


def _subtitle(view: EndpointView, width: int, title: str) -> str:
    """What the title does not say, as far as it fits in whole words."""
    facts = view.facts
    served = f"→ {line(view.served)}" if view.served else ""
    news = (word for word in (_tiers(view), served) if word and word not in title)
    lane = "warm (cold apart)" if facts.connection == "both" else facts.connection
    words = [*news, *(word for word in (facts.model, facts.provider) if word not in facts.name), lane]
    subtitle = ""
    for word in words:
        joined = f"{subtitle} · {word}" if subtitle else word
        subtitle = joined if cell_len(joined) <= width else subtitle
    return subtitle


def _timing(lines: _Lines, view: EndpointView, scale: Scales, grid: TimeGrid) -> None:
    """The TTFT and the tokens/s section."""
    shown, columns, height = view.figures, lines.columns, len(lines.pieces)
    places = {grid.place(one.at) for one in view.changes}
    changed = places.intersection(range(len(shown.ttft_ms)))
    lines.spark(
        bars(shown.ttft_ms, scale.ttft_ms or 1.0, shown.down, height, changed, shown.untrusted), columns.spark, "ttft"
    )
    times = [shown.ttft_p50_ms] * columns.ttft_p50 + [shown.ttft_p95_ms] * columns.ttft_p95
    aside = shown.left_out
    if aside is None:
        lines.figure(number(shown.ttft_last_ms), "figure")
    else:
        marked = f"{HOLLOW} {number(aside.ttft_ms)}"
        with_why = f" {marked} {aside.why}"
        if times and not any(times) and len(with_why) <= columns.figure * (1 + len(times)):
            lines.add(with_why.ljust(columns.figure * (1 + len(times))), "usual")  # the place of what is not known
            times = []
        else:
            lines.figure(marked, "usual")
    for time in times:
        lines.figure(number(time), "usual")
    lines.gap()
    lines.spark(
        bars(shown.tokens_per_s, scale.tokens_per_s or 1.0, (), height, (), shown.untrusted), columns.spark, "speed"
    )
    if aside is None or shown.tokens_per_s_last is not None:
        lines.figure(number(shown.tokens_per_s_last), "figure")
    else:
        lines.figure(number(aside.tokens_per_s), "usual")
    if columns.speed_p50:
        lines.figure(number(shown.tokens_per_s_p50), "usual")


def _errors(lines: _Lines, view: EndpointView, newest: int) -> None:
    """The errors section: share of failures by slice, rate, count, kind of the last."""
    shown, columns = view.figures, lines.columns
    covered = [bool(pair) for pair in paired(shown.covered, newest)]
    drawn = counts(paired(shown.failed, newest), paired(shown.finished, newest), covered, 1, len(lines.pieces))
    lines.spark(drawn, columns.half, "error")
    style = "error" if shown.failed_count else "dim"
    lines.figure(percent(shown.error_rate), style)
    if columns.error_count:
        lines.figure(number(shown.failed_count) if shown.finished_count else DASH, style)
    if columns.error_kind:
        kind = view.last_failure.value.replace("_", " ") if view.last_failure and shown.failed_count else ""
        lines.add(f"  {kind}".ljust(KIND), "usual")


def _limits(lines: _Lines, view: EndpointView, scale: Scales, board: Dashboard) -> None:
    """The rate-limit section: hits by slice, hits, headroom of the tightest bucket, its name, when it ends.

    Below them the bucket that refused a probe of the window; else the tightest, where it has no column.
    """
    shown, columns = view.figures, lines.columns
    newest = board.grid.newest
    covered = [bool(pair) for pair in paired(shown.covered, newest)]
    drawn = counts(paired(shown.hits, newest), None, covered, scale.hits, len(lines.pieces))
    lines.spark(drawn, columns.half, "limit")
    cells: list[Piece] = []
    if columns.hits:
        known = shown.finished_count or shown.hit_count
        style = "limit" if shown.hit_count else "dim"
        cells.append(((number(shown.hit_count) if known else DASH).rjust(HITS), style))
    bucket = short(view.levels[0].bucket.words) if view.levels else ""
    if columns.headroom:
        cells.append((whole_percent(view.headroom).rjust(HEADROOM), "usual"))
    if columns.bucket:
        cells.append((_sized(f"  {bucket}", BUCKET), "usual"))
    if columns.reset:
        cells.append(_refill_or_empty(view, board.at))
    below = f"hit {short(line(view.hit_by))}" if shown.hit_count and view.hit_by else ""
    below = below or (bucket if columns.headroom and not columns.bucket else "")
    width = sum(len(text) for text, _ in cells)
    lines.cells(cells, below.rjust(width) if len(below) < width else "")


def _refill_or_empty(view: EndpointView, at: int) -> Piece:
    """When the tightest bucket is forecast to be empty, unless a limit holds probes back; else when it is full."""
    left = DASH if view.monitor.blocked_until is not None else until(view.empty_at, at)
    if left != DASH:
        return f"empty {left.replace(' ', '')}".rjust(RESET), "limit"
    return until(view.reset_at, at).rjust(RESET), "usual"
