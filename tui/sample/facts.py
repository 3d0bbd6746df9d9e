"""Every column of a sample as name and value, as many side by side as fit; and the sample's title; pure."""

from typing import Final

from probes.format import DASH, moment
from probes.outcome import INCONCLUSIVE, Outcome
from probes.sample import Sample
from probes.text import line
from tui.widgets.plate import Row

_NAME: Final = 20
_COLUMN: Final = 44
"""Cells that a name and its value take where several stand side by side."""


def fact_rows(sample: Sample, width: int) -> list[Row]:
    """Names and values, column by column, in the order of exports; what is not known is a dash."""
    record = sample.to_json()
    pairs = [(name, DASH if value is None else line(str(value), 200)) for name, value in record.items()]
    across = max(width // _COLUMN, 1)
    size = max(width // across, _NAME + 4)
    down = -(-len(pairs) // across)
    rows: list[Row] = []
    for place in range(down):
        row: list[tuple[str, str]] = []
        for name, value in pairs[place::down]:
            row += [(f"{name:<{_NAME}} ", "label"), _value(value, size - _NAME - 2)]
        rows.append(tuple(row))
    return rows


def _value(value: str, width: int) -> tuple[str, str]:
    shown = value if len(value) <= width else f"{value[: width - 1]}…"
    return f"{shown:<{width}} ", "dim" if value == DASH else "figure"


def title_row(sample: Sample, sample_id: int, width: int) -> Row:
    """The sample's endpoint, time, lane, vantage and outcome."""
    ink = "success" if sample.outcome is Outcome.OK else "warning" if sample.outcome in INCONCLUSIVE else "error"
    name = line(sample.endpoint)
    lane = sample.connection or "no connection"
    rest = f"  {moment(sample.started_at)}  {lane}  at {line(sample.vantage)}  #{sample_id}"
    outcome = sample.outcome.value.replace("_", " ")
    detail = f": {line(sample.outcome_detail)}" if sample.outcome_detail else ""
    used = len(name) + len(rest) + 2
    return (
        (name, "title"),
        (rest, "label"),
        (f"  {outcome}{detail}"[: max(width - used + 2, 0)], ink),
    )
