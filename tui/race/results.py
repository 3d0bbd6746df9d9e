"""RaceResults: the verdict of a race in words, and a table of its figures with ratios and 95 % intervals."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import Final

from textual.geometry import Size

from probes.endpoint import Price
from probes.outcome import Outcome
from probes.race.comparison import HeadToHead, Metric, PairedComparison
from probes.race.price import lane_cost
from probes.race.updates import RaceNews
from probes.race.verdict import RaceVerdict
from probes.sample import Sample
from probes.stats.quantiles import median
from probes.stats.sample_values import chars_per_s
from probes.text import line
from tui.race.lane_words import LETTERS
from tui.style.format import DASH, cost, number, price, times, usd
from tui.widgets.plate import Plate, Row

Measure = Callable[[Sample], float | None]

METRICS: Final[tuple[tuple[Metric, str, Measure, bool], ...]] = (
    ("ttft_ms", "TTFT ms", lambda one: one.ttft_ms, True),
    ("e2e_ms", "E2E ms", lambda one: one.e2e_ms, True),
    ("tokens_per_s", "tokens/s", lambda one: one.tokens_per_s, False),
    ("chars_per_s", "chars/s", lambda one: chars_per_s(one.output_chars, one.e2e_ms), False),
)
"""Key, label, value, and whether less is better."""

LABEL_WIDTH: Final = 13


class RaceResults(Plate):
    """Draws the results, as high as they have rows."""

    DEFAULT_CSS = """
    RaceResults { height: auto; padding: 0 1; }
    """

    def show(
        self,
        news: RaceNews,
        samples: Mapping[int, Mapping[str, Sample]],
        lanes: Sequence[str],
        prices: Mapping[str, Price | None],
        room: Size,
    ) -> int:
        """``samples`` are those of each heat, by lane; ``lanes`` are in their order, ``prices`` by lane too.

        Returns how many rows it has drawn.
        """
        rows = result_rows(news, samples, lanes, prices, room)
        self.styles.height = len(rows)
        self.draw(rows)
        return len(rows)


def result_rows(
    news: RaceNews,
    samples: Mapping[int, Mapping[str, Sample]],
    lanes: Sequence[str],
    prices: Mapping[str, Price | None],
    room: Size,
) -> list[Row]:
    """All of it where there is room; else without prices, then without differences and faults, then without duels."""
    by_lane = {name: [heat[name] for heat in samples.values() if name in heat] for name in lanes}
    verdict, width = news.verdict, room.width
    duels = verdict.duels if verdict else ()
    duel = duels[0] if len(duels) == 1 else None
    column = max(9, min(22, (width - LABEL_WIDTH - (30 if duel else 0)) // len(lanes)))
    parts: list[tuple[int, list[Row]]] = [
        (0, _verdict(verdict, lanes, news.stopped, width)),
        (0, [_head(lanes, column, duel), *_figures(lanes, by_lane, duel, column)]),
        (4, _money(lanes, by_lane, prices, column)),
        (1, [_duel_row(one, lanes, width) for one in duels] if duel is None else []),
        (2, _faults(verdict, width)),
        (0, [_about(news, width)]),
        (3, _differences(news, width)),
    ]
    for least in (4, 3, 2, 1):
        if sum(len(rows) for _, rows in parts) > room.height:
            parts = [(rank, rows) for rank, rows in parts if rank != least]
    return [row for _, rows in parts for row in rows]


def _figures(
    lanes: Sequence[str], by_lane: Mapping[str, Sequence[Sample]], duel: HeadToHead | None, column: int
) -> list[Row]:
    """A row for each metric: the median of each lane's right heats, the best one marked; how two lanes compare."""
    rows: list[Row] = []
    for metric, label, measure, less in METRICS:
        values = [median(measure(one) for one in by_lane[name] if _right(one)) for name in lanes]
        known = [value for value in values if value is not None]
        best = (min if less else max)(known) if len(set(known)) > 1 else None
        cells = []
        for one in values:
            is_best = best is not None and one == best
            mark, ink = ("◂", "success") if is_best else (" ", "figure")
            cells.append((f"{number(one):>{column - 2}} {mark}", ink))
        rows.append(((f"{label:<{LABEL_WIDTH}}", "label"), *cells, *(_compared(duel.by(metric)) if duel else ())))
    return rows


def _right(sample: Sample) -> bool:
    return sample.outcome is Outcome.OK and sample.expect_ok is not False


def _verdict(verdict: RaceVerdict | None, lanes: Sequence[str], stopped: str | None, width: int) -> list[Row]:
    """The verdict's words, wrapped to two rows, after a mark in the winner's colour."""
    if verdict is None or not verdict.heats:
        words, mark = f"no heat was finished: {line(stopped)}" if stopped else "no heat was finished", ("■ ", "warning")
    elif verdict.winner in lanes:
        words, mark = verdict.words, ("★ ", f"slot{lanes.index(verdict.winner)}")
    else:
        words, mark = verdict.words, ("= ", "label")
    found = wrap(line(words, 500), width - 2)[:2]
    return [((mark if place == 0 else ("  ", "label")), (one, "figure")) for place, one in enumerate(found)]


def _head(lanes: Sequence[str], column: int, duel: HeadToHead | None) -> Row:
    heads = []
    for slot, name in enumerate(lanes):
        room = column - 4
        short = name if len(name) <= room else f"{name[: room - 1]}…"
        heads.append((f"{LETTERS[slot] + ' ' + short:>{column - 2}}  ", f"slot{slot}"))
    beside = (("ratio", "label"), ("  95 % interval", "label"), ("   won", "label")) if duel else ()
    return ((" " * LABEL_WIDTH, "label"), *heads, *beside)


def _compared(one: PairedComparison) -> tuple[tuple[str, str], ...]:
    """The ratio, its 95 % interval, and how many heats were won: ``2.26×  1.90 – 2.80   5 of 5``."""
    sure = f"{one.low:.2f} – {one.high:.2f}" if one.low is not None and one.high is not None else DASH
    shown = one.low is not None and (one.low > 1 or (one.high or 0) < 1)
    return (
        (f"{times(one.ratio):>6} ", "figure" if shown else "label"),
        (f"{sure:>13}", "label"),
        (f"  {one.wins} of {one.pairs}", "label"),
    )


def _duel_row(duel: HeadToHead, lanes: Sequence[str], width: int) -> Row:
    """Of more than two lanes: the leader against one other, in as many metrics as fit."""
    one, other = lanes.index(duel.lane), lanes.index(duel.against)
    pieces = [(LETTERS[one], f"slot{one}"), (" : ", "label"), (f"{LETTERS[other]}  ", f"slot{other}")]
    if not any(found.pairs for found in duel.comparisons):
        return (*pieces, ("finished right in no heat together", "label"))
    room = width - 8
    for metric, label, *_ in (METRICS[3], METRICS[0], METRICS[1], METRICS[2]):
        found = duel.by(metric)
        sure = f" ({found.low:.2f} – {found.high:.2f})" if found.low is not None and found.high is not None else ""
        value = f"{times(found.ratio)}{sure} {found.wins}/{found.pairs}   "
        words = label.removesuffix(" ms") + " "
        if (room := room - len(words) - len(value)) < 0:
            break
        pieces += [(words, "label"), (value, "figure")]
    return tuple(pieces)


def _money(
    lanes: Sequence[str], by_lane: Mapping[str, Sequence[Sample]], prices: Mapping[str, Price | None], column: int
) -> list[Row]:
    """What an answer cost, what a million tokens do, and how much speed a dollar buys; where prices are known."""
    each = {name: median(one.cost_usd for one in by_lane[name]) for name in lanes}
    if all(one is None for one in each.values()):
        return []
    costs = {name: lane_cost(name, by_lane[name]) for name in lanes}
    rows: list[tuple[str, list[str]]] = [("$ an answer", [cost(each[name]) for name in lanes])]
    rows.append(("$ / M out", [price(one.output if (one := prices.get(name)) else None) for name in lanes]))
    rows.append(("tok/s per $", [number(costs[name].tokens_per_s_per_dollar) for name in lanes]))
    return [
        ((f"{label:<{LABEL_WIDTH}}", "label"), *((f"{value:>{column - 2}}  ", "figure") for value in values))
        for label, values in rows
    ]


def _faults(verdict: RaceVerdict | None, width: int) -> list[Row]:
    """What went wrong, lane by lane; ○ marks what does not count against the lane."""
    rows: list[Row] = []
    for fault in verdict.faults if verdict else ():
        words = f"{fault.lane}: {line(fault.words)}, {fault.heats} of {verdict.heats if verdict else 0}"
        mark, ink = ("✕ ", "error") if fault.counts else ("○ ", "warning")
        rows.append(((mark, ink), (words[: width - 2], ink)))
    return rows


def _about(news: RaceNews, width: int) -> Row:
    """How many heats, what they cost, how far apart the lanes started, the number of the stored race."""
    heats = news.verdict.heats if news.verdict else 0
    parts = [f"{heats} heat{'' if heats == 1 else 's'}"]
    if news.cost_usd is not None:
        parts.append(f"{usd(news.cost_usd)} in all")
    if news.skew_ms is not None:
        parts.append(f"started within {news.skew_ms:.2f} ms")
    if news.stopped:
        parts.append(f"ended: {line(news.stopped, 60)}")
    if news.number is not None:
        parts.append(f"kept as race {news.number}")
    return ((" · ".join(parts)[:width], "label"),)


def _differences(news: RaceNews, width: int) -> list[Row]:
    """The differences between the lanes' requests; empty where there is none."""
    if not news.differences:
        return []
    return [((f"not the same: {'; '.join(line(one) for one in news.differences)}"[:width], "warning"),)]
