"""Paths of charts: lines that break, bands, bars, and axes that one outlier does not spoil."""

import pytest

from probes.report.chart import band_path, bars_path, line_path, shade_marks, top_of
from probes.report.report import Report, Shade


def test_a_line_breaks_where_nothing_is_known_and_one_point_is_a_dot():
    assert line_path([50.0, 100.0, None, 25.0], 100.0) == "M125 50l250-50M875 75h0"
    assert line_path([None, None], 1.0) == ""


def test_a_band_goes_there_and_back():
    assert band_path([0.0, 0.0], [100.0, 50.0], 100.0) == "M250 100l500 0 0-50-500-50z"
    assert band_path([1.0], [2.0], 2.0) == ""


def test_a_bar_is_seen_however_small_and_stands_on_the_one_beneath():
    assert bars_path([0.0, 0.001], [0.0, 0.5], 1.0) == "M500 50v-2h499v2z"


@pytest.mark.parametrize(
    ("values", "top"),
    [([], 1.0), ([None], 1.0), ([0.0], 1.0), ([90.0, 95.0], 100.0), ([1_150.0], 1_200.0), ([1.0] * 99 + [900.0], 3.0)],
)
def test_an_axis_ends_at_a_round_number_and_an_outlier_is_cut(values, top):
    assert top_of(values) == top


def test_an_incident_that_lasts_reaches_the_edge():
    report = Report(made_at=100, since=0, until=100, start=0, length=10, version="1")
    drawn = shade_marks([Shade(3, 50, None, "critical")], report)
    assert "x=500 width=500" in drawn
    assert "incident 3" in drawn
