"""Makes the example of a report: a simulated year of 12 endpoints, with an incident and a certificate, redacted.

python -m tests.bench.report_example docs/report-example.html [--endpoints 12] [--samples 300000]
"""

import argparse
import tempfile
import time
from datetime import UTC
from pathlib import Path

from probes.alerts.incident import Cause, Change, Incident, Member
from probes.alerts.state import State
from probes.certificate import Certificate, Errors, MeasuredLoad, Spread
from probes.config.presets import presets, public_providers
from probes.report.page import page
from probes.report.read import ReportQuestion, read_report
from probes.report.redact import redacted
from probes.status_pages.post import Post
from probes.store.alerts.incidents import AlertStore
from probes.store.alerts.status_posts import StatusPosts
from probes.store.certificates import keep
from tests.bench.year import DAY, HOUR, fill_year

TROUBLED = "sambanova/gpt-oss-120b"
"""The endpoint that fails for three days in the last month of the simulated year."""


def incidents(now: int) -> list[Incident]:
    """Those three days, and an evening of slowness, as the recorder would have kept them."""
    found = []
    for number, (name, provider, state, began, ended, ratio) in enumerate(
        (
            (TROUBLED, "sambanova", State.FAILING, now - 23 * DAY, now - 20 * DAY, None),
            ("groq/llama-3.3-70b", "groq", State.SLOW, now - 4 * DAY, now - 4 * DAY + 3 * HOUR, 2.1),
        )
    ):
        member = Member(
            vantage="local",
            endpoint=name,
            provider=provider,
            model=name.partition("/")[2],
            lane="warm",
            state=State.OK,
            worst=state,
            since=began,
            until=ended,
            lost=40 if ratio is None else 0,
            metric=None if ratio is None else "ttft_ms",
            ratio=ratio,
        )
        incident = Incident(
            id=f"{number:026}",
            key=str(number),
            cause=Cause("endpoint", name),
            state=State.OK,
            worst=state,
            severity="critical" if ratio is None else "warning",
            first_failure_at=began,
            opened_at=began + 60_000,
            last_seen_at=ended,
            resolved_at=ended,
            members=(member,),
        )
        found.append(incident)
    return found


def certificate(now: int) -> Certificate:
    """What a quiet machine's selftest finds (docs/accuracy.md)."""
    ttft, speed = Spread(0.03, 0.06, 0.12, 0.3), Spread(0.01, 0.03, 0.06, 0.1)
    errors = Errors(
        probes=120, failed=0, events=60_000, untrusted=0, ttft_ms=ttft, gap_ms=ttft, tokens_per_s_percent=speed,
        cpu_us_per_event=20.0, bound_held=1.0, kernel=True,
    )  # fmt: skip
    measured = tuple(MeasuredLoad(load, errors) for load in ("2 × 2,000", "20 × 50"))
    return Certificate(now - 2 * DAY, "", "", "0.1.0", screen=True, quick=False, measured=measured)


def main() -> None:
    """Make it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--endpoints", type=int, default=12)
    parser.add_argument("--samples", type=int, default=300_000)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "history.db"
        url = f"sqlite:///{store}"
        fill_year(store, wanted.endpoints, wanted.samples)
        now = time.time_ns() // 1_000_000
        AlertStore(url).keep([Change(incident=one) for one in incidents(now)])
        post = Post(
            page=presets()["groq"].status_page or "", id="1", incident="1", at=now - 4 * DAY + HOUR // 2,
            status="investigating", impact="minor", title="Higher latency",
        )  # fmt: skip
        StatusPosts(url).keep([post], ["groq"], now)
        keep(url, certificate(now))
        report = read_report(url, ReportQuestion(since=now - 365 * DAY, until=now, zone=UTC))
    text = page(redacted(report, public_providers()))
    wanted.path.write_text(text, encoding="utf-8")
    print(f"{len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
