"""Made-up streams of samples for judges, and baselines without a season."""

from probes.alerts.detect.baseline import DAY_MS, Baseline
from probes.alerts.detect.judge import EndpointJudge
from probes.alerts.detect.observation import Observation
from probes.alerts.settings import DEFAULT_SETTINGS
from probes.outcome import Outcome

START = 1_790_000_000_000
MINUTE = 60_000


def flat(metric="ttft_ms", usual=100.0, worst=1.5, **changes):
    facts = {"n": 20_000, "days": 28.0, "since": START - 28 * DAY_MS, "made_at": START} | changes
    band = {name: (usual * times,) * 168 for name, times in {"p10": 0.8, "p50": 1.0, "p90": 1.3}.items()}
    return Baseline(metric=metric, worst=worst, **band, **facts)


BASELINES = {("warm", "ttft_ms"): flat(), ("warm", "tokens_per_s"): flat("tokens_per_s")}


class Stream:
    """A judge, and samples for it, one a minute."""

    def __init__(self, policy="warm", baselines=BASELINES, settings=DEFAULT_SETTINGS, interval=60.0):
        self.judge = EndpointJudge("here", "a", policy, interval, settings, baselines)
        self.at = START
        self.step = round(interval * 1000)
        self.told = []
        self.count = 0

    def sample(self, outcome="ok", ttft=100.0, speed=100.0, lane="warm", **facts):
        self.count += 1
        if outcome == "ok":
            facts = {"ttft_ms": ttft, "tokens_per_s": speed} | facts
        one = Observation(self.at, Outcome(outcome), lane, sample_id=f"{self.count}", **facts)
        self.at += self.step
        told = self.judge.observe(one)
        if told is not None:
            self.told.append(told)
        return told

    def samples(self, count, *arguments, **facts):
        for _ in range(count):
            self.sample(*arguments, **facts)
        return self

    @property
    def now(self):
        return self.judge.judgements[0]

    @property
    def state(self):
        return self.now.state.value

    @property
    def states(self):
        found = []
        for one in self.told:
            if not found or found[-1] != one.state.value:
                found.append(one.state.value)
        return found
