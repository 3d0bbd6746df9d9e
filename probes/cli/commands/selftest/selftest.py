"""``selftest``: how wrong inftop's own numbers are on this machine, as a table and a sentence."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from probes.certificate import Certificate, MeasuredLoad, Spread, milliseconds
from probes.cli.output.table import columns, print_lines
from probes.cli.output.terminal import say
from probes.config.file import Named, find_config
from probes.config.load import load
from probes.format import plural
from probes.selftest.run import Screen
from probes.selftest.run import selftest as run_selftest
from probes.sockets.event_loop import ReaderKind
from probes.store.certificates import keep
from probes.store.location import default_url
from probes.store.problem import StoreProblem

HEAD = ("LOAD (tok/s)", "PROBES", "TTFT ms p50", "p99", "max", "tok/s % p50", "p99", "gap ms p99", "µs/EVENT")


def selftest(config: Named | Path | None, screen: Screen | None, *, quick: bool, as_json: bool) -> bool:
    """Measure, store the certificate and print it. Returns whether this machine can measure.

    Raises ConfigError, and OSError or RuntimeError where a process of the selftest fails.
    """
    store_url = load(find_config(config)).store_url or default_url()
    found = run_selftest(screen, quick=quick, narrate=lambda words: print(words, file=sys.stderr, flush=True))  # noqa: T201
    if as_json:
        print(json.dumps(found.to_json(), indent=2))  # noqa: T201
    else:
        print_lines(lines(found))
    try:
        keep(store_url, found)
    except StoreProblem as problem:
        say(f"not kept in the history: {problem.detail}")
    return found.can_measure


def lines(found: Certificate) -> list[str]:
    """The certificate for people."""
    table = columns([HEAD, *(_cells(one) for one in found.measured)], right=range(1, len(HEAD)))
    redrawn = "dashboard redrawing" if found.screen else "no dashboard"
    held = [one.errors.bound_held for one in found.measured if one.errors.bound_held is not None]
    share = f"bound held for {100 * min(held):.2f} % of the events" if held else ""
    untrusted = sum(one.errors.untrusted for one in found.measured)
    reader = f"read by {found.reader}" if found.reader else ""
    facts = [
        f"{found.clock} clock",
        reader,
        redrawn,
        share,
        f"{plural(untrusted, 'probe')} left out as untrusted" if untrusted else "",
    ]
    return [*table, "", ", ".join(one for one in facts if one), found.verdict, *_advice(found)]


def _advice(found: Certificate) -> list[str]:
    """What would make a machine of this kind more accurate, where that is known."""
    if found.is_best or not found.system.startswith("Linux") or found.reader in (None, ReaderKind.REAL_TIME):
        return []
    return ["inftop selftest --fix says how to have the kernel read in real time: more accurate on a busy machine"]


def _cells(one: MeasuredLoad) -> tuple[str, ...]:
    errors = one.errors
    ttft, speed, gap = errors.ttft_ms, errors.tokens_per_s_percent, errors.gap_ms
    return (
        one.load,
        f"{errors.probes:,}",
        *_spread(ttft, milliseconds, "p50", "p99", "max"),
        *_spread(speed, "{:.2f}".format, "p50", "p99"),
        *_spread(gap, milliseconds, "p99"),
        "–" if errors.cpu_us_per_event is None else f"{errors.cpu_us_per_event:.0f}",
    )


def _spread(spread: Spread | None, shown: Callable[[float], str], *names: str) -> tuple[str, ...]:
    return tuple("–" if spread is None else shown(getattr(spread, name)) for name in names)
