"""The evidence of an incident out of a store, of each database that can be one."""

from probes.alerts.detect.baseline import Baseline
from probes.exports.incident.evidence import Meanwhile, Usual, gather
from probes.exports.incident.pack import files
from probes.outcome import Outcome
from probes.store.alerts.baselines import keep_baselines
from tests.cli.test_alerts_command import BEGAN, DOWN, MINUTE, NOW
from tests.samples import sample
from tests.store.stores import fill


def test_evidence_is_gathered_from_every_store(store):
    values = {"endpoint": "groq/a", "provider": "groq"}
    outcomes = [(-1, Outcome.OK), (0, Outcome.CONNECT), (1, Outcome.SKIPPED)]
    members = [sample(started_at=BEGAN + n * MINUTE, outcome=outcome, **values) for n, outcome in outcomes]
    others = [sample(endpoint="kimi", started_at=BEGAN + n * MINUTE, outcome=one) for n, one in outcomes]
    fill(store, [*members, *others])
    hours = (400.0,) * 168
    learnt = Baseline(
        metric="ttft_ms", made_at=BEGAN, since=0, n=900, p10=hours, p50=hours, p90=hours, worst=1.5, days=9.0
    )
    keep_baselines(store, {("local", name, "warm", "ttft_ms"): learnt for name in ("groq/a", "kimi")})
    found = gather(store, DOWN, pages=(), hosts={}, hide=str, version="1", now=NOW)
    assert [one.outcome for one in found.samples] == [outcome for _, outcome in outcomes]
    assert found.meanwhile == (Meanwhile("kimi", "sim", 2, 1),)
    assert found.usual == (Usual("local", "groq/a", "warm", "ttft_ms", 400.0, 1.5, 900),)
    assert "kimi" in files(found)["incident.md"].decode()
