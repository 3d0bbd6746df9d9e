"""The table ``slo`` of an ``[[endpoint]]``: what is a good probe, and how many of them are to be good."""

from typing import Final

from probes.config import checks
from probes.config.table import Table
from probes.durations import seconds
from probes.endpoint import Slo, SloLimit

LEAST_WINDOW_S: Final = 86_400
MOST_WINDOW_S: Final = 366 * 86_400
DEFAULT_WINDOW_S: Final[float] = 30 * 86_400


def read_slo(table: Table) -> Slo | None:
    """The service-level objective of an endpoint; None where it has none, or a wrong one."""
    own = table.table("slo")
    if not own.given:
        own.close()
        return None
    good = own.require("good", _good)
    target = own.require("target", _target)
    window = own.read("window", _window, DEFAULT_WINDOW_S)
    own.close()
    if good is None or target is None:
        return None
    return Slo(*good, target, window)


def _good(value: object) -> tuple[str, tuple[SloLimit, ...]]:
    from probes.alerts.slo import parse_good  # few endpoints have an objective, and all programs read a configuration

    text = checks.text(value).strip()
    return text, parse_good(text)


def _target(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.5 <= value < 1:
        raise ValueError(f"must be a share from 0.5 up to, not including, 1: 0.99 is 99 %, not {checks.shown(value)}")
    return float(value)


def _window(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f'must be a time such as "30d", not {checks.kind(value)}')
    window = seconds(value)
    if not LEAST_WINDOW_S <= window <= MOST_WINDOW_S:
        raise ValueError(f'must be from "1d" to "366d", not {checks.shown(value)}')
    return window
