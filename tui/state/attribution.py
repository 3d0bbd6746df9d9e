"""Blame: the verdict "is it me?" as the screen tells it: of what is recent, and in words."""

from collections.abc import Iterable, Sequence
from typing import Final

from probes.diagnosis.attribution import Attribution, LastProbe, failing_since
from probes.diagnosis.reachability import ReachabilityCheck
from probes.feed.messages import EndpointFacts
from probes.outcome import UNCOUNTED, Outcome
from probes.sample import Sample
from tui.state.history import OUTCOMES, History
from tui.style.format import minute

CHECK_KEPT_MS: Final = 300_000
"""A reachability check older than this tells nothing of now."""


def lately(facts: EndpointFacts, newest: Sample, history: History) -> LastProbe:
    """What an endpoint's newest sent sample tells, and since when it has been so."""
    began = None if newest.outcome is Outcome.OK else failing_since(_finished(history))
    origin = facts.origin or facts.provider  # an engine of before does not say
    return LastProbe.of(newest, origin, newest.started_at if began is None else began)


def _finished(history: History) -> Iterable[tuple[int, bool]]:
    """Every probe of the error rate, the newest first: when it began, and whether it failed."""
    for index in range(len(history) - 1, -1, -1):
        outcome = OUTCOMES[history.outcome[index]]
        if outcome not in UNCOUNTED:
            yield history.started_at[index], outcome is not Outcome.OK


def recent(checks: Iterable[ReachabilityCheck], now: int) -> tuple[ReachabilityCheck, ...]:
    """The reachability checks that tell of now."""
    return tuple(one for one in checks if now - one.at <= CHECK_KEPT_MS)


def headline(verdict: Attribution) -> str:
    """``my network? 4 of 5 providers failing since 14:02``, for the status line."""
    more = f" (+{verdict.more} more)" if verdict.more else ""
    who = f"{verdict.who}{more}: " if verdict.who else ""
    return f"{_scope(verdict)} {who}{_lasting(verdict)}"


def reasons(verdict: Attribution) -> Sequence[str]:
    """The same in parts, with all the evidence, for the endpoint it is about."""
    return f"{_scope(verdict)} {_lasting(verdict)}", *verdict.evidence[1:]


def _scope(verdict: Attribution) -> str:
    return f"{verdict.scope}?" if verdict.scope else "who is to blame?"


def _lasting(verdict: Attribution) -> str:
    return f"{verdict.evidence[0]} since {minute(verdict.since)}"
