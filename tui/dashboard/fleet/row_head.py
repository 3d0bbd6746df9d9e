"""The line above the fleet's rows: column titles, what the graphs draw, and by which column rows are sorted."""

from collections.abc import Sequence

from probes.config.screen import Sort
from tui.dashboard.fleet.columns import AGE, BUCKET, COUNT, HEADROOM, RESET, Columns
from tui.dashboard.fleet.sections import Scales, scale_ends
from tui.widgets.graph import LogScale
from tui.widgets.grid import RANKED, Title


def head(
    columns: Columns, shared: Scales | None, sort: Sort = "configured", *, usual: bool = False
) -> tuple[Title, ...]:
    """The titles; a click on one asks for its order.

    ``shared``: the scales of all rows, if they share them. ``usual``: the ground of graphs is what is usual.
    """
    titles: list[Title] = [(" ", "")]

    def add(text: str, order: Sort | None, width: int) -> None:
        """A title of that width, after a cell that is blank or has the mark."""
        titles.append(((RANKED if order == sort else " ") + text.ljust(width)[:width], order or ""))

    tall = columns.lines > 1
    add("endpoint", "name", len("endpoint") if tall else columns.name)
    add("state", "state", columns.name - len("endpoint") if tall else columns.state)
    gap = (" " * (columns.gap - 1), "")
    sections: list[tuple[str, Sort | None, int]] = [
        (_ttft(columns, shared.ttft_ms if shared else None, usual=usual), "ttft", columns.ttft_section),
        (_speed(columns, shared.tokens_per_s if shared else None, usual=usual), "tokens/s", columns.speed_section),
        (_errors(columns), "errors", columns.errors_section),
        (_limits(columns), None, columns.limits_section),
    ]
    for text, order, width in sections:
        if width:
            titles.append(gap)
            add(text, order, width)
    times = ("age".rjust(AGE) if columns.age else "") + ("next".rjust(AGE) if columns.due else "")
    return (*titles, (times, ""))


def _ttft(columns: Columns, scale: LogScale | None, *, usual: bool) -> str:
    names = ["last", *["p50"] * columns.ttft_p50, *["p95"] * columns.ttft_p95]
    words = ("TTFT ms  max", "TTFT max", "TTFT")
    legends = _legends(columns, "usual" if usual else "p95" if columns.lines > 2 else "")
    return _timing(words, scale, columns, legends=legends, graph=columns.ttft, names=names, stacked="last p50 p95")


def _speed(columns: Columns, scale: LogScale | None, *, usual: bool) -> str:
    names = ["last", *["p50"] * columns.speed_p50]
    words = ("tokens/s  min", "tok/s min", "tok/s")
    legends = _legends(columns, "usual" if usual else "")
    return _timing(words, scale, columns, legends=legends, graph=columns.speed, names=names, stacked="last p50")


def _legends(columns: Columns, shade: str) -> list[str]:
    """What the dots and the shade of a graph are, in several lengths, the longest first."""
    found = ["┈ p50"] if columns.lines > 1 else []
    return [f"{'  '.join([*found, f'░ {shade}'])}", *found] if shade else found


def _timing(
    words: Sequence[str],
    scale: LogScale | None,
    columns: Columns,
    *,
    legends: Sequence[str],
    graph: int,
    names: Sequence[str],
    stacked: str,
) -> str:
    """Title and scale of a large graph over it, and the names of its figures: of stacked ones without labels all."""
    tall = columns.lines > 1
    first, *others = names
    whole = graph + columns.figure
    under = stacked if tall and not columns.labels and len(words[1]) + 1 + len(stacked) <= whole else first
    room = whole - len(under) - 1
    ends = f"  {scale_ends(scale)}" if scale else ""
    full = [f"{words[0]}{ends}   {legend}" for legend in legends]
    title = next((one for one in [*full, *(f"{word}{ends}" for word in words), *words] if len(one) <= room), "")
    return title + under.rjust(whole - len(title)) + "".join(name.rjust(columns.figure) for name in others)


def _errors(columns: Columns) -> str:
    title = "errors".ljust(columns.bars) + "rate".rjust(columns.rate) if columns.bars >= 6 else ""
    title = title or ("errors" if columns.rate >= len("errors") else "errs").rjust(columns.bars + columns.rate)
    return title + ("count".rjust(COUNT) if columns.error_count else "") + ("  last" if columns.error_kind else "")


def _limits(columns: Columns) -> str:
    width = columns.bars + columns.hits
    title = ("rate limits" if width > 12 else "limits").ljust(width) if columns.bars >= 6 else ""
    title = title or ("limits" if width >= 6 else "429s").rjust(width)
    return (
        title
        + ("left".rjust(HEADROOM) if columns.headroom else "")
        + ("  bucket".ljust(BUCKET) if columns.bucket else "")
        + ("reset".rjust(RESET) if columns.reset else "")
    )
