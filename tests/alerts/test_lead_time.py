"""Lead times: which posts may be about an incident, and how long before the first of them we saw its trouble."""

from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from probes.alerts.incident import Cause, Incident, Member
from probes.alerts.lead_time import AFTER_MS, BEFORE_MS, LeadTimes, lead_ms, lead_times, posts_about, providers_of
from probes.alerts.state import State
from probes.status_pages.post import MAINTENANCE, Post

BEGAN, MINUTE = 1_800_000_000_000, 60_000
NOW = BEGAN + 60 * MINUTE


def member(name="a", provider="groq"):
    return Member(
        vantage="local", endpoint=name, provider=provider, model="m", lane="warm", state=State.DOWN, worst=State.DOWN,
        since=BEGAN,
    )  # fmt: skip


INCIDENT = Incident(
    id="I", key="k", cause=Cause("provider", "groq"), state=State.DOWN, worst=State.DOWN, severity="critical",
    first_failure_at=BEGAN, opened_at=BEGAN + MINUTE, last_seen_at=NOW, members=(member(), member("b")),
)  # fmt: skip


@dataclass(frozen=True)
class At:
    """An instant, minutes after the first failure."""

    minutes: float

    @property
    def ms(self):
        return BEGAN + round(self.minutes * MINUTE)


def post(minutes, about="x", impact="major", name=None):
    at = At(minutes).ms
    return Post(page="p", id=name or f"{about}{minutes}", incident=about, at=at, status="s", impact=impact, title="t")


def test_the_first_post_at_the_time_of_the_incident_is_what_counts():
    posts = [post(35), post(12), post(-3 * 24 * 60, "old"), post(5, "old")]
    assert [one.at for one in posts_about(INCIDENT, posts, NOW)] == [At(12).ms, At(35).ms]
    assert lead_ms(INCIDENT, posts, NOW) == 12 * MINUTE
    assert lead_ms(INCIDENT, [post(-4)], NOW) == -4 * MINUTE
    assert lead_ms(INCIDENT, [], NOW) is None


def test_planned_work_and_notices_are_no_trouble():
    assert posts_about(INCIDENT, [post(1, impact=MAINTENANCE), post(2, "y", impact="none")], NOW) == ()


@pytest.mark.parametrize(("past", "found"), [(0, True), (1, False)])
def test_the_window_reaches_from_before_the_first_failure_to_after_the_end(past, found):
    over = replace(INCIDENT, resolved_at=NOW)
    late = (NOW + AFTER_MS - BEGAN) / MINUTE + past
    early = -BEFORE_MS / MINUTE - past
    assert bool(posts_about(over, [post(late)], NOW)) is found
    assert bool(posts_about(over, [post(early)], NOW)) is found


def test_whose_pages_may_tell_of_an_incident():
    assert providers_of(INCIDENT) == {"groq"}
    assert providers_of(replace(INCIDENT, cause=Cause("network"))) == frozenset()
    assert providers_of(replace(INCIDENT, worst=State.QUOTA)) == frozenset()


def test_the_median_of_a_provider_is_over_what_it_posted_at_all():
    incidents = [
        INCIDENT,
        replace(INCIDENT, id="J", members=(member(provider="openai"),)),
        replace(INCIDENT, id="K", first_failure_at=At(10).ms),
        replace(INCIDENT, id="L", cause=Cause("network")),
    ]
    posts = {"groq": [post(30)], "openai": []}
    assert lead_times(incidents, posts.__getitem__, NOW) == (
        LeadTimes("groq", 2, 2, 25 * MINUTE),
        LeadTimes("openai", 1, 0, None),
    )
