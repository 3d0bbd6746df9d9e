"""Columns: what fits which width; nothing sticks out, nothing moves by chance."""

import pytest

from tui.dashboard.columns import columns

WIDTHS = range(60, 260)


@pytest.mark.parametrize("longest_name", [8, 15, 22, 30])
def test_no_row_is_wider_than_the_screen(longest_name):
    for width in WIDTHS:
        if width >= 38 + longest_name:
            assert columns(width, longest_name).width <= width


def test_names_stay_whole_at_every_width():
    assert all(columns(width, 27).name >= 27 for width in WIDTHS)


def test_the_four_columns_are_there_at_80_wide():
    narrow = columns(80, 21)
    assert narrow.spark >= 5
    assert narrow.hits
    assert narrow.ttft_p50
    assert narrow.errors
    assert narrow.limits


def test_sparklines_shrink_before_p95_goes_and_p95_goes_before_headroom():
    with_p95 = [width for width in WIDTHS if columns(width, 21).ttft_p95]
    with_headroom = [width for width in WIDTHS if columns(width, 21).headroom]
    assert min(with_headroom) < min(with_p95) < 160
    assert columns(min(with_p95), 21).spark < columns(200, 21).spark
    assert with_p95 == list(range(min(with_p95), max(WIDTHS) + 1))


def test_the_two_small_sparklines_hold_two_slices_a_cell():
    for width in WIDTHS:
        parts = columns(width, 21)
        assert parts.half in (0, (parts.spark + 1) // 2)


def test_a_wide_screen_has_everything():
    wide = columns(250, 21)
    assert all((wide.ttft_p95, wide.error_kind, wide.headroom, wide.bucket, wide.reset, wide.age, wide.due))
    assert wide.spark >= 24
