"""Samples as lines of text, the table that closes a recording, and tables in general."""

from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from probes.outcome import FAILED, UNCOUNTED, Outcome
from probes.sample import Sample
from probes.stats.quantiles import median
from probes.stats.sample_values import measured


def columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """A table as one line per row, its columns two blanks apart; those in ``right`` are aligned to the right."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


MEDIAN_OF = 10_000
"""Values an endpoint's medians are taken over: the newest ones, so that weeks fit in memory."""


def sample_line(sample: Sample, width: int) -> str:
    """Time, endpoint, outcome, connection, TTFT and tokens/s; ``width`` is the longest endpoint name's."""
    at = datetime.fromtimestamp(sample.started_at / 1000, UTC).astimezone()
    ttft = f"{sample.ttft_ms:,.1f} ms" if sample.ttft_ms is not None else "–"
    speed = f"{sample.tokens_per_s:,.1f} tokens/s" if sample.tokens_per_s is not None else "–"
    basis = "tokens/s of the answer alone" if sample.speed_basis == "answer" else None
    detail = "; ".join(words for words in (basis, sample.outcome_detail) if words)
    outcome = f"{sample.outcome:<12}  {sample.connection or '–':<4}"
    text = f"{at:%H:%M:%S}  {sample.endpoint:<{width}}  {outcome}  {ttft:>12}  {speed:>18}"
    return f"{text}  {detail}" if detail else text


@dataclass(slots=True)
class EndpointTally:
    """The outcomes and figures of one endpoint since the recording began."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    ttft_ms: deque[float] = field(default_factory=lambda: deque(maxlen=MEDIAN_OF))
    tokens_per_s: deque[float] = field(default_factory=lambda: deque(maxlen=MEDIAN_OF))

    def add(self, sample: Sample) -> None:
        """Count one sample; times and speeds are those that are measured (`probes.stats.sample_values`)."""
        self.outcomes[sample.outcome] += 1
        if (ttft := measured(sample, "ttft_ms")) is not None:
            self.ttft_ms.append(ttft)
        if (speed := measured(sample, "tokens_per_s")) is not None:
            self.tokens_per_s.append(speed)

    def row(self, name: str, width: int) -> str:
        """The endpoint's line of the closing table."""
        failed = sum(count for outcome, count in self.outcomes.items() if outcome in FAILED)
        finished = sum(count for outcome, count in self.outcomes.items() if outcome not in UNCOUNTED)
        errors = f"{100 * failed / finished:.1f} %" if finished else "–"
        ttft, speed = median(self.ttft_ms), median(self.tokens_per_s)
        return (
            f"{name:<{width}}  {self.outcomes.total():>7,}  {_number(ttft):>11}  {_number(speed):>12}  {errors:>7}"
            f"  {self.outcomes[Outcome.RATE_LIMITED]:>11,}"
        )


def closing_table(tallies: dict[str, EndpointTally]) -> list[str]:
    """The lines of the table: samples, medians of TTFT and tokens/s, error rate and rate-limit hits by endpoint."""
    width = max((len(name) for name in tallies), default=8)
    head = f"{'endpoint':<{width}}  {'samples':>7}  {'TTFT p50 ms':>11}  {'tokens/s p50':>12}  {'errors':>7}"
    return [f"{head}  {'rate limits':>11}", *(tally.row(name, width) for name, tally in tallies.items())]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}"
