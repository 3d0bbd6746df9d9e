"""Says when an endpoint fails: down by failures in a row and their confirmation, failing by a cumulated sum."""

import math
from collections import deque
from typing import Final

from probes.alerts.detect.observation import Observation
from probes.alerts.state import State
from probes.outcome import FAILED, INCONCLUSIVE, Outcome

USUAL_RATE: Final = 0.006
FAILING_RATE: Final = 0.20
"""The error rates between which the sum decides: of an endpoint that is well, and of one that is failing."""

DECISION: Final = 9.0
"""The sum of log-likelihood ratios from which on an endpoint is failing: three failures close together, at least."""

MOST: Final = 2 * DECISION
"""The sum grows no further, so that a long failure is not long remembered."""

DOWN_RUN: Final = 3
"""So many failures in a row are down, those of the probes that were sent to confirm the first among them."""

CERTAIN_RUN: Final = 2
"""So many of an outcome that the next probe is bound to have too."""

LIMITED_RUN: Final = 3
FEWEST_WELL, MOST_WELL = 3, 30
"""Between so many probes in a row must be well before a failure ends."""

CHANCE: Final = 0.05
"""How likely that many well probes in a row may be by chance, at the share that failed until then."""

CERTAIN: Final = frozenset({Outcome.AUTH, Outcome.NOT_FOUND, Outcome.BAD_REQUEST, Outcome.NO_KEY})
"""Outcomes that the next probe is bound to have too: down after two."""

WORTHLESS: Final = frozenset({Outcome.EMPTY, Outcome.CUT, Outcome.WRONG_ANSWER, Outcome.REFUSED})
"""Outcomes of an endpoint that answers, with answers that are worth nothing; cut only where an answer had begun."""

_FAILURE_STEP: Final = math.log(FAILING_RATE / USUAL_RATE)
_WELL_STEP: Final = math.log((1 - FAILING_RATE) / (1 - USUAL_RATE))
_SAMPLES: Final = 20


class FailureDetector:
    """Judges how an endpoint's probes end.

    ``state`` is None while nothing is the matter, else down, failing, silent, quota or limited, ``since`` when the
    first sample began that speaks for it; ``failures`` of ``probes`` since then failed, the newest one with ``outcome``
    and ``detail``. ``is_quiet``: nothing failed lately, and a well probe changes nothing.

    The sum is Page's (1954, https://doi.org/10.2307/2333009) of the log-likelihood ratios of two error rates.
    """

    __slots__ = (
        "_certain", "_certain_run", "_dead_run", "_has_key", "_limited_run", "_quota_run", "_run", "_sum", "_well_run",
        "_worthless", "detail", "failures", "is_quiet", "outcome", "probes", "samples", "since", "state",
    )  # fmt: skip

    def __init__(self) -> None:
        self.samples: deque[str] = deque(maxlen=_SAMPLES)
        self._has_key = False
        self._clear()

    def _clear(self) -> None:
        self.state: State | None = None
        self.since = self.failures = self.probes = 0
        self.outcome: Outcome | None = None
        self.detail: str | None = None
        self.samples.clear()
        self._sum = 0.0
        self._run = self._certain_run = self._quota_run = self._limited_run = self._well_run = self._worthless = 0
        self._dead_run = 0
        self._certain: Outcome | None = None
        self.is_quiet = self._has_key

    def observe(self, one: Observation) -> bool:
        """Take a sample; whether the judgement may have changed."""
        outcome = one.outcome
        if outcome is Outcome.OK:
            self._has_key = True
            return not self.is_quiet and self._well(one)
        if outcome is Outcome.NO_KEY and not self._has_key:
            return False
        if outcome in INCONCLUSIVE and outcome is not Outcome.NO_KEY:
            return False
        self._has_key = True
        if one.confirm and not self.failures:  # what it was to confirm is over
            return False
        if outcome is Outcome.RATE_LIMITED or outcome is Outcome.QUOTA:
            self._refused(one)
        else:
            self._failed(one)
        return self.state is not None

    def suspects(self, one: Observation) -> bool:
        """Whether another probe at once would tell more, after this one was observed."""
        if one.outcome not in FAILED or one.outcome is Outcome.QUOTA:
            return False
        return self.state is None and 0 < self._run < DOWN_RUN and not (one.outcome is Outcome.OVERLOADED and one.waits)

    def _well(self, one: Observation) -> bool:
        self._run = self._dead_run = self._certain_run = self._quota_run = self._limited_run = 0
        if one.confirm:
            return False
        self._sum = max(0.0, self._sum + _WELL_STEP)
        self.probes += 1
        self._well_run += 1
        if self._well_run >= self._enough() if self.state is not None else self._sum == 0.0:
            had = self.state is not None
            self._clear()
            return had
        return False

    def _enough(self) -> int:
        """How many well probes in a row end the present state."""
        if self.state in (State.QUOTA, State.LIMITED) or self.outcome in CERTAIN:
            return CERTAIN_RUN
        share = self.failures / max(1, self.probes - self._well_run)
        by_chance = math.log(CHANCE) / math.log(1 - share) if share < 1 else 0.0
        return min(MOST_WELL, max(FEWEST_WELL, math.ceil(by_chance)))

    def _note(self, one: Observation) -> None:
        if not self.failures:
            self.since, self.is_quiet = one.at, False
        self.probes += 1
        self.failures += 1
        self.outcome, self.detail = one.outcome, one.detail
        if one.sample_id is not None:
            self.samples.append(one.sample_id)

    def _refused(self, one: Observation) -> None:
        """Count a refusal by a limiter or for want of money."""
        self._note(one)
        self._well_run = 0
        if one.outcome is Outcome.QUOTA:
            self._quota_run += 1
            if self._quota_run >= CERTAIN_RUN:
                self.state = State.QUOTA
        else:
            self._limited_run += 1
            if self._limited_run >= LIMITED_RUN:
                self.state = State.LIMITED

    def _failed(self, one: Observation) -> None:
        self._note(one)
        is_worthless = one.outcome in WORTHLESS and (one.answered or one.outcome is not Outcome.CUT)
        self._worthless += is_worthless
        self._dead_run = 0 if is_worthless else self._dead_run + 1
        self._quota_run = self._limited_run = self._well_run = 0
        self._run += 1
        self._certain_run = self._certain_run + 1 if one.outcome is self._certain else 1
        self._certain = one.outcome
        if not one.confirm and one.outcome is not Outcome.NO_KEY:
            self._sum = min(MOST, self._sum + _FAILURE_STEP)
        is_down = self._run >= DOWN_RUN or (one.outcome in CERTAIN and self._certain_run >= CERTAIN_RUN)
        is_failing = self._sum >= DECISION or self.state in (State.DOWN, State.FAILING, State.SILENT)
        if is_down or is_failing:
            answers = 2 * self._worthless > self.failures and self._dead_run < DOWN_RUN
            is_still_down = is_down and self.state is State.DOWN  # all has failed since, in whatever way
            bad = State.DOWN if is_down else State.FAILING
            self.state = State.SILENT if answers and not is_still_down else bad
