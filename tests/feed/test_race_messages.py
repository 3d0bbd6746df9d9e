"""News and wishes of races as JSON lines: what goes out comes back, and nothing else is taken."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from probes.feed.messages import decode, encode
from probes.race.progress import Progress
from probes.race.request import RaceRequest
from probes.race.updates import LaneNews, RaceCommand, RaceNews, TextDelta
from tests.race.races import VERDICT
from tests.samples import sample

WISH = RaceRequest(("a", "b"), "Tell a story.", expect="x", heats=3, budget_usd=0.5, cold=True)
NEWS = RaceNews(
    started_at=1_800_000_000_000,
    wish=WISH,
    phase="running",
    heat=2,
    lanes=(
        LaneNews(
            "a", "running", Progress(12.5, 3.25, events=2, chars=9, tokens=2.5), (TextDelta("answer", "Once 二 \x7f"),)
        ),
        LaneNews("b", "finished", Progress(80.0), (), sample(ttft_ms=5.5), 1),
    ),
    skew_ms=0.25,
    differences=("temperature: a 0, b the provider's own",),
    verdict=VERDICT,
    cost_usd=0.01,
    number=7,
)


@pytest.mark.parametrize(
    "message", [NEWS, replace(NEWS, verdict=None, lanes=()), RaceCommand("start", WISH), RaceCommand("stop")]
)
def test_what_goes_out_comes_back(message: RaceNews | RaceCommand):
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == message


def spoilt(change: Any) -> bytes:
    record = json.loads(encode(NEWS))
    change(record)
    return json.dumps(record).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.pop("wish"),
        lambda one: one["wish"].update(lanes=["a"]),
        lambda one: one["wish"].update(heats="many"),
        lambda one: one["lanes"][0]["progress"].update(at_ms=float("nan")),
        lambda one: one["lanes"][0].update(name=5),
        lambda one: one["lanes"][0].update(pieces=[1]),
        lambda one: one["verdict"]["duels"][0]["comparisons"][0].update(ratio="2"),
        lambda one: one.update(lanes=None),
        lambda one: one.update(news=1),
    ],
)
def test_what_is_no_news_is_refused(change: Any):
    with pytest.raises(ValueError, match=r"."):
        decode(spoilt(change))
