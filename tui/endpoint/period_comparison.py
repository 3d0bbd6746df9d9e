"""Against: a stretch against the one before, with how sure that is; and places against each other; pure."""

from typing import Final

from probes.stats.median_ratio import MedianRatio
from probes.stats.rollup import METRICS
from tui.endpoint.summary import EndpointSummary, RangeSummary
from tui.style.format import DASH, number, percent, times
from tui.time.period import Period
from tui.widgets.plate import Row

LABELS: Final = {
    "ttft_ms": "TTFT ms",
    "tokens_per_s": "tokens/s",
    "ttfa_ms": "TTFA ms",
    "e2e_ms": "E2E ms",
    "gap_max_ms": "gap max ms",
}
FIRST_METRICS: Final = ("ttft_ms", "tokens_per_s", "gap_max_ms")
"""Those that stay where there is no room for all beside the places."""

_LABEL: Final = 11
_FIGURE: Final = 8
_WORDS_FROM: Final = 66
"""Cells from which there is room for what an interval means in words."""


def against_rows(portrait: EndpointSummary, lane: str, width: int, height: int) -> list[Row]:
    """Medians now and before, their ratio and its interval; then a table of the places, where there is room."""
    length = Period(portrait.span.length_ms).words
    title: Row = ((f"This {length} against the {length} before"[:width], "title"), ("  medians", "label"))
    head = f"{'':<{_LABEL}}{'now':>{_FIGURE}}{'before':>{_FIGURE}}  {'ratio':>6}  95 % interval"
    rows: list[Row] = [title, ((head[:width], "label"),)]
    places = _places(portrait, lane, width)
    metrics = METRICS if height >= len(METRICS) + 3 + len(places) else FIRST_METRICS
    rows += [_shift_row(metric, portrait.shift(lane, metric), portrait, lane, width) for metric in metrics]
    rates = [percent(portrait.whole.error_rate), percent(portrait.before_whole.error_rate)]
    rows.append(((f"{'errors':<{_LABEL}}", "label"), (f"{rates[0]:>{_FIGURE}}{rates[1]:>{_FIGURE}}", "figure")))
    if height > len(rows) + len(places):
        rows.append(((" ", "label"),))
    return [*rows, *places][:height]


def _shift_row(metric: str, shift: MedianRatio | None, portrait: EndpointSummary, lane: str, width: int) -> Row:
    label = (f"{LABELS[metric]:<{_LABEL}}", "label")
    if shift is None:
        now, before = (
            number(one.sketch(metric).quantile(0.5)) if (one := held.get(lane)) else DASH
            for held in (portrait.lanes, portrait.before)
        )
        said = "" if now == DASH else "nothing before to compare with"
        return (label, (f"{now:>{_FIGURE}}{before:>{_FIGURE}}", "figure"), (f"  {said}"[: max(width - 27, 0)], "hint"))
    figures = f"{number(shift.median):>{_FIGURE}}{number(shift.before):>{_FIGURE}}  {times(shift.ratio):>6}"
    sure = f"{shift.low:.2f} – {shift.high:.2f}" if shift.low is not None and shift.high is not None else DASH
    words = f"  {verdict(metric, shift)}" if width >= _WORDS_FROM else f"  {_short(metric, shift)}"
    ink = _ink(metric, shift)
    return (label, (figures, "figure" if shift.shown else "label"), (f"  {sure:<13}", "label"), (words, ink))


def verdict(metric: str, shift: MedianRatio) -> str:
    """What an interval says, in words."""
    if shift.low is None:
        return "too few samples to say"
    if not shift.shown:
        return "no difference shown"
    more = shift.ratio > 1
    if metric == "tokens_per_s":
        return "▲ faster" if more else "▼ slower"
    return "▲ longer" if more else "▼ shorter"


def _short(metric: str, shift: MedianRatio) -> str:
    if shift.low is None:
        return "few"
    return verdict(metric, shift)[:1] if shift.shown else "="


def _ink(metric: str, shift: MedianRatio) -> str:
    if not shift.shown:
        return "hint"
    return "success" if (shift.ratio > 1) == (metric == "tokens_per_s") else "warning"


def _places(portrait: EndpointSummary, lane: str, width: int) -> list[Row]:
    """A row for each vantage that the store holds the endpoint from."""
    places = portrait.places
    if not places:
        return []
    if len(places) == 1:
        return [((f"Places: {next(iter(places))} alone holds this endpoint"[:width], "label"),)]
    size = max(6, min(14, max(map(len, places))))
    head = f"{'':<{size}} {'samples':>9} {'TTFT p50':>9} {'p95':>8} {'tok/s p50':>10} {'errors':>8}"
    rows: list[Row] = [(("Places", "title"), ("  v shows one of them alone", "label")), ((head[:width], "label"),)]
    return [*rows, *(_place(name, lanes.get(lane, RangeSummary()), lanes[""], size) for name, lanes in places.items())]


def _place(name: str, own: RangeSummary, whole: RangeSummary, size: int) -> Row:
    p50, p95 = own.quantiles("ttft_ms", 0.5, 0.95)
    speed = own.sketch("tokens_per_s").quantile(0.5)
    samples = whole.sums.samples if whole.sums else 0
    figures = f" {number(samples):>9} {number(p50):>9} {number(p95):>8} {number(speed):>10}"
    errors = percent(whole.error_rate)
    return ((f"{name[:size]:<{size}}", "label"), (figures, "figure"), (f" {errors:>8}", "figure"))
