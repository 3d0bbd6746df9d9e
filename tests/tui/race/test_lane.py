"""The title of a lane: its name whole, and its state where there is room for it."""

import pytest

from tui.race.board import LaneBoard
from tui.race.lane import LaneTitle, title_rows

NAMES = ("cerebras/gpt-oss-120b", "openrouter")


def drawn(name, width, names=NAMES):
    title = LaneTitle.of(names, [width] * len(names))
    rows = title_rows(LaneBoard(name, "running"), "groq · gpt-oss-120b", 0, width, title, marked=False)
    return ["".join(text for text, _ in row).rstrip() for row in rows]


def test_a_wide_lane_has_its_state_beside_its_name():
    assert drawn(NAMES[0], 60) == [
        f"A cerebras/gpt-oss-120b{'▸ waiting':>37}",
        "  groq · gpt-oss-120b",
    ]


def test_all_lanes_have_their_state_below_where_one_name_is_too_long():
    assert drawn(NAMES[1], 36) == ["A openrouter", "  ▸ waiting  groq · gpt-oss-120b"]
    assert drawn(NAMES[0], 24) == ["A cerebras/gpt-oss-120b", "  ▸ waiting"]


def test_a_name_that_is_longer_than_its_lane_goes_on_below_and_all_lanes_keep_room_for_it():
    assert drawn(NAMES[0], 18) == ["A cerebras/gpt-", "  oss-120b", "  ▸ waiting"]
    assert drawn(NAMES[1], 18) == ["A openrouter", "", "  ▸ waiting"]


@pytest.mark.parametrize("width", [0, 1, 6])
def test_a_lane_without_room_is_drawn_all_the_same(width):
    assert drawn(NAMES[0], width)
