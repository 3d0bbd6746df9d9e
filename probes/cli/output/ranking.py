"""Ranks endpoints that serve the same model by their median TTFT; pure."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from probes.cli.output.table import columns, styled
from probes.endpoint import Endpoint, lane_of
from probes.outcome import FAILED, NEVER_SENT, UNCOUNTED, Outcome
from probes.sample import Sample
from probes.stats.quantiles import known, median, quantile, rate, ratio
from probes.stats.sample_values import chars_per_s, is_measured, measured

DASH: Final = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One endpoint of a group by its samples. Units are in the names; None is not known.

    Times and speeds use only what counts (`probes.stats.sample_values`) with the endpoint's own connection policy; of
    `both` the warm ones. A ratio is the endpoint's median over the best one's: 1 for the best, above it for slower
    first tokens, below it for slower decoding. ``error_rate`` is a share of 1; ``hits`` counts rate-limit hits.
    ``cost_usd`` is the mean of the probes whose cost is known. ``left_out`` counts the good samples whose times are not
    used, by why. ``of_answers``: some of its tokens/s are of answers
    alone, whose reasoning is not shown as it is generated.
    """

    endpoint: Endpoint
    ttft_p50_ms: float | None
    ttft_p95_ms: float | None
    ttft_ratio: float | None = None
    tokens_per_s_p50: float | None
    tokens_per_s_ratio: float | None = None
    chars_per_s_p50: float | None
    error_rate: float | None
    hits: int
    cost_usd: float | None
    of_answers: bool
    left_out: Mapping[str, int]


def ranking(group: Iterable[tuple[Endpoint, Sequence[Sample]]]) -> tuple[Rank, ...]:
    """The endpoints of a group by median TTFT, then tokens/s; the unknown last, ties in the order given."""
    ranks = [_rank(endpoint, samples) for endpoint, samples in group]
    best_ttft = min(known(one.ttft_p50_ms for one in ranks), default=None)
    best_speed = max(known(one.tokens_per_s_p50 for one in ranks), default=None)
    compared = (
        replace(
            one,
            ttft_ratio=ratio(one.ttft_p50_ms, best_ttft),
            tokens_per_s_ratio=ratio(one.tokens_per_s_p50, best_speed),
        )
        for one in ranks
    )
    return tuple(sorted(compared, key=_order))


def ranking_table(ranks: Sequence[Rank]) -> list[str]:
    """The lines of a ranking: a row of figures for each endpoint, and below it a note on its costs."""
    head = ("ENDPOINT", "TTFT ms", "P95", "×BEST", "TOK/S", "×BEST", "CHAR/S", "ERRORS", "HITS")
    top, *rows = columns([head, *(_cells(one) for one in ranks)], right=range(1, len(head)))
    lines = [top]
    for one, row in zip(ranks, rows, strict=True):
        note = _note(one)
        lines += [row, styled(f"  {note}", "note")] if note else [row]
    return lines


def _rank(endpoint: Endpoint, samples: Sequence[Sample]) -> Rank:
    good = [one for one in samples if is_measured(one) and one.connection == lane_of(endpoint.connection)]
    ttfts = known(measured(one, "ttft_ms") for one in good)
    finished = sum(one.outcome not in UNCOUNTED for one in samples)
    costs = known(one.cost_usd for one in samples if one.outcome not in NEVER_SENT)
    return Rank(
        endpoint=endpoint,
        ttft_p50_ms=quantile(ttfts, 0.5),
        ttft_p95_ms=quantile(ttfts, 0.95),
        tokens_per_s_p50=median(measured(one, "tokens_per_s") for one in good),
        chars_per_s_p50=median(chars_per_s(one.output_chars, one.e2e_ms) for one in good),
        error_rate=rate(sum(one.outcome in FAILED for one in samples), finished),
        hits=sum(one.outcome is Outcome.RATE_LIMITED for one in samples),
        cost_usd=sum(costs) / len(costs) if costs else None,
        of_answers=any(one.speed_basis == "answer" for one in good),
        left_out=Counter(why for one in samples if (why := _why_left_out(one, endpoint)) is not None),
    )


def _why_left_out(sample: Sample, endpoint: Endpoint) -> str | None:
    """Why an answer's times are not ranked; None where they are, and where there was no good answer."""
    lane = lane_of(endpoint.connection)
    if sample.outcome is not Outcome.OK:
        return None
    if not is_measured(sample):
        return "not trusted: this machine was too busy to time it"
    if sample.connection != lane:
        return f"{sample.connection or 'without a connection'}: only {lane} ones are ranked"
    return "buffered: something on the way held the answer back" if sample.buffered else None


def _order(one: Rank) -> tuple[float, float]:
    return (
        math.inf if one.ttft_p50_ms is None else one.ttft_p50_ms,
        math.inf if one.tokens_per_s_p50 is None else -one.tokens_per_s_p50,
    )


def _cells(one: Rank) -> tuple[str, ...]:
    return (
        one.endpoint.name,
        _number(one.ttft_p50_ms),
        _number(one.ttft_p95_ms),
        _times(one.ttft_ratio),
        _number(one.tokens_per_s_p50),
        _times(one.tokens_per_s_ratio),
        _number(one.chars_per_s_p50),
        DASH if one.error_rate is None else f"{100 * one.error_rate:.1f} %",
        str(one.hits),
    )


def _note(one: Rank) -> str:
    price = one.endpoint.price
    listed = f"${price.input:g} in, ${price.output:g} out a million tokens" if price else ""
    probe = "" if one.cost_usd is None else f"${one.cost_usd:.6f} a probe"
    alone = "tokens/s of the answers alone" if one.of_answers else ""
    left_out = [f"{count} left out as {why}" for why, count in one.left_out.items()]
    return "; ".join(part for part in (listed, probe, alone, *left_out) if part)


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:,.0f}"


def _times(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"
