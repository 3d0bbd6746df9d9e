"""Stores for reports: two providers' endpoints over two days, an incident, a race, a certificate; plain or hostile."""

import random
from dataclasses import replace as replaced

from msgspec.structs import replace

from probes.alerts.incident import Cause, Change, Incident, Member
from probes.alerts.state import State
from probes.outcome import Outcome
from probes.status_pages.post import Post
from probes.store.alerts.incidents import AlertStore
from probes.store.alerts.status_posts import StatusPosts
from probes.store.certificates import keep
from probes.store.races import save_race
from tests.race.races import race
from tests.samples import sample
from tests.selftest.test_certificate import FOUND
from tests.store.stores import fill

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
NOW = 1_800_000_000_000
SINCE = NOW - 2 * DAY
BEGAN = NOW - 6 * HOUR
PAGE = "https://groqstatus.com"

MEMBER = Member(
    vantage="local", endpoint="groq/a", provider="groq", model="m", lane="warm", state=State.OK, worst=State.DOWN,
    since=BEGAN, until=BEGAN + HOUR, lost=6, outcome="server_error", detail="HTTP 503: over capacity",
)  # fmt: skip
INCIDENT = Incident(
    id="01M8W0000000000000AAAAAAAA", key="k1", cause=Cause("provider", "groq"), state=State.OK, worst=State.DOWN,
    severity="critical", first_failure_at=BEGAN, opened_at=BEGAN + MINUTE, last_seen_at=BEGAN + HOUR,
    resolved_at=BEGAN + HOUR, members=(MEMBER,), evidence=("1 of 1 endpoint of groq fails, others do not",),
)  # fmt: skip


def two_days(name, *, provider="groq", model="m", ttft=100.0, vantage="local", seed=1, now=NOW, **fields):
    """A sample each 10 minutes; those of an hour fail where the endpoint is in the incident."""
    dice = random.Random(seed)
    for number in range(288):
        at = now - 2 * DAY + number * 10 * MINUTE
        usual = {
            "started_at": at, "endpoint": name, "provider": provider, "model": model, "vantage": vantage,
            "connection": "warm", "ttft_ms": ttft * dice.lognormvariate(0, 0.2), "tokens_per_s": 50.0, "e2e_ms": 900.0,
            "cost_usd": 0.001, "input_tokens": 50, "output_tokens": 50, "trusted": True,
        }  # fmt: skip
        if name == "groq/a" and BEGAN <= at < BEGAN + HOUR:
            usual |= {"outcome": Outcome.SERVER_ERROR, "ttft_ms": None, "tokens_per_s": None}
        yield sample(**(usual | fields))


def fill_usual(url):
    """Three endpoints of one group, two of them equally fast."""
    fill(url, two_days("groq/a", ttft=100.0, seed=1))
    fill(url, two_days("kimi", provider="moonshot", ttft=200.0, seed=2))
    fill(url, two_days("groq/b", ttft=100.5, seed=3))
    AlertStore(url).keep([Change(incident=INCIDENT)])
    keep(url, FOUND)


def fill_hostile(url, words):
    """As many text fields of a store as there are, each with ``words(field)``."""
    name, vantage = words("endpoint"), words("vantage")
    said = {
        one: words(one)
        for one in (
            "outcome_detail", "served_model", "served_tier", "served_by", "served_fingerprint", "request_id",
            "finish_reason", "limit_buckets", "limited_by", "prompt_version", "dialect",
        )
    }  # fmt: skip
    fill(url, two_days(name, provider=words("provider"), model=words("model"), vantage=vantage, **said))
    fill(url, two_days("groq/a", seed=2, **said))
    member = replace(
        MEMBER, endpoint=name, vantage=vantage, provider=words("provider"), model=words("model"), detail=words("detail")
    )
    for number, culprit in enumerate(("provider", "model", "endpoint")):
        own = replace(
            INCIDENT, id=f"01M8W0000000000000AAAAAAA{number}", cause=Cause(culprit, words(culprit)), members=(member,),
            evidence=(words("evidence"),), resolved_why=words("why"),
        )  # fmt: skip
        AlertStore(url).keep([Change(incident=own)])
        AlertStore(url).acknowledge(own.id, NOW, words("person"))
        AlertStore(url).note(own.id, words("note"), NOW, words("person"))
    post = Post(
        page=PAGE, id="1", incident="i", at=BEGAN + 20 * MINUTE, status="investigating", impact="major",
        title=words("title"), text=words("post"), components=(words("component"),),
    )  # fmt: skip
    StatusPosts(url).keep([post], ["groq"], NOW)
    keep(url, replaced(FOUND, host=words("host"), system=words("system"), version=words("version")))
    save_race(url, replaced(race(), started_at=BEGAN, vantage=vantage, stopped=words("stopped")))
