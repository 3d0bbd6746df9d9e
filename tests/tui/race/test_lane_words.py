"""The words of a lane: names cut to their cells."""

from tui.race.lane_words import cut


def test_a_name_is_cut_by_cells_and_says_so():
    assert cut("abcdef", 4) == "abc…"
    assert cut("灯塔守护人", 4) == "灯 …"
    assert cut("ab", 4) == "ab  "
