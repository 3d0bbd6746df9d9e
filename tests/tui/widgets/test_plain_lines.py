"""PlainStrip: a line that was painted is freed without a search for garbage."""

import gc

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import Monochrome

from tui.widgets.plain_lines import PlainStrip

BLACK = Color(0, 0, 0)
RED = Style(color="#ff0000")


def test_a_line_that_was_painted_whole_is_freed_with_its_last_holder():
    gc.collect()
    gc.disable()
    try:
        line = PlainStrip([Segment("abc", RED), Segment("de", RED)])
        shown = line.apply_filter(Monochrome(), BLACK)
        assert [one.text for one in shown.divide([5])] == ["abcde"]
        assert [one.text for one in shown.divide([2, 5])] == ["ab", "cde"]
        del line, shown
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_line_is_filtered_once():
    line, once = PlainStrip([Segment("abc", RED)]), Monochrome()
    assert line.apply_filter(once, BLACK) is line.apply_filter(once, BLACK)
