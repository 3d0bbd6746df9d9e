"""Lanes: two lines of words whose figures stand under each other, and their place in the detail."""

from dataclasses import replace

import pytest
from msgspec import structs

from tests.samples import sample
from tests.tui import fabric
from tests.tui.fabric import NOW
from tests.tui.screen import showing
from tui.dashboard.lane_lines import lanes_lines
from tui.state.view import LaneFigures
from tui.state.view_options import ViewOptions
from tui.time.period import LENGTHS, Period

WARM = LaneFigures("warm", 121, 98.0, 240.0, 2610.0)
COLD = LaneFigures("cold", 9, 1_412.0, 1_530.0, 604.0, 38.4)
FEW = fabric.HABITS[:3]


def turns(count=40):
    """Warm and cold samples of the first endpoint in turn, the newest a warm one."""
    cold = {"connection": "cold", "dns_ms": 2.0, "connect_ms": 12.0, "tls_ms": 24.0, "ttft_ms": 900.0}
    warm = {"connection": "warm", "ttft_ms": 100.0}
    return [
        sample(
            endpoint=FEW[0].name,
            started_at=NOW - 1000 - number * 60_000,
            tokens_per_s=500.0,
            **(cold if number % 2 else warm),
        )
        for number in range(count)
    ]


def messages():
    facts = [fabric.facts(habit) for habit in FEW]
    first = structs.replace(facts[0], connection="both")
    return fabric.hello(endpoints=(first, *facts[1:])), fabric.frame(turns(), monitors=fabric.monitors()[:3])


def test_the_figures_stand_under_each_other_and_set_up_is_the_cold_ones():
    assert lanes_lines((WARM, COLD)) == [
        "warm  n 121  TTFT p50    98 p95   240 ms  tok/s p50 2,610",
        "cold  n   9  TTFT p50 1,412 p95 1,530 ms  tok/s p50   604  set-up p50 38 ms",
    ]
    assert max(map(len, lanes_lines((WARM, replace(COLD, setup_p50_ms=1_234.0))))) == 78
    assert lanes_lines(()) == []


def test_what_is_not_known_is_a_dash_and_nothing_moves_as_numbers_grow():
    warm, cold = lanes_lines((LaneFigures("warm"), LaneFigures("cold")))
    assert warm == "warm  n   0  TTFT p50     – p95     – ms  tok/s p50     –"
    assert cold == "cold  n   0  TTFT p50     – p95     – ms  tok/s p50     –  set-up p50 – ms"
    assert [line.index("tok/s") for line in lanes_lines((WARM, COLD))] == [warm.index("tok/s")] * 2


@pytest.mark.parametrize("size", [(160, 45), (100, 40), (80, 24)])
async def test_the_detail_shows_two_lanes_and_the_row_the_warm_ones(size):
    async with showing(*messages(), size=size, view=ViewOptions(Period(LENGTHS["6 h"]))) as shown:
        before = shown.lines
        assert [line.strip() for line in before if "set-up p50" in line or "warm  n " in line] == [
            "warm  n  20  TTFT p50   100 p95   100 ms  tok/s p50   500",
            "cold  n  20  TTFT p50   900 p95   900 ms  tok/s p50   500  set-up p50 38 ms",
        ]
        row = next(line for line in before if FEW[0].name in line)
        assert " 100" in row
        assert " 900" not in row
        await shown.press("down")
        assert "warm  n " not in shown.text


async def test_without_room_the_lanes_are_dropped_and_nothing_moves():
    facts = [fabric.facts(habit) for habit in fabric.HABITS]
    told = fabric.frame(turns())
    pictures = []
    for first in (facts[0], structs.replace(facts[0], connection="both")):
        hello = fabric.hello(endpoints=(first, *facts[1:]))
        async with showing(hello, told, size=(80, 24), view=ViewOptions(Period(LENGTHS["6 h"]))) as shown:
            detail = shown.dashboard.query_one("#detail")
            heights = [detail.query_one(f"#{name}").size.height for name in ("title", "figures", "lanes", "failures")]
            pictures.append((detail.size.height, heights, "warm  n " in shown.text))
    assert pictures[0] == pictures[1]
    assert pictures[1][1][2] == 0
    assert not pictures[1][2]
