"""The moving picture of the README, and the script that makes it and all others."""

import importlib.util
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style

from tests.bench.film import Picture, Run, film, row_of

ROOT = Path(__file__).parent.parent
INK, GROUND = "#dddddd", "#111111"
SVG = "{http://www.w3.org/2000/svg}"


def plain(*texts, seconds=1.0):
    return Picture(tuple((Run(0, text, INK, GROUND, False),) for text in texts), seconds)


@pytest.fixture(scope="module")
def picture():
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs/picture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_row_is_runs_of_one_style_with_the_colours_that_are_seen():
    red, swapped = Style(color="#ff0000", bold=True), Style(color="#ff0000", bgcolor="#0000ff", reverse=True)
    row = row_of([Segment("a "), Segment("b"), Segment("c", red), Segment("d", swapped)], INK, GROUND)
    assert row == (
        Run(0, "a b", INK, GROUND, False),
        Run(3, "c", "#ff0000", GROUND, True),
        Run(4, "d", "#0000ff", "#ff0000", False),
    )


def test_a_row_is_defined_once_however_often_it_is_shown():
    root = ET.fromstring(film([plain("same", "one"), plain("same", "two")], 10, "t", GROUND))
    rows = root.findall(f"{SVG}defs/{SVG}g")
    assert [one.find(f"{SVG}text").text for one in rows] == ["same", "one", "two"]
    assert [one.get("href") for one in root.iter(f"{SVG}use")] == ["#r0", "#r1", "#r0", "#r2"]


def test_pictures_are_shown_as_long_as_they_say_and_for_ever():
    style = (
        ET.fromstring(film([plain("a", seconds=1), plain("b", seconds=3)], 10, "t", GROUND)).find(f"{SVG}style").text
    )
    assert "4.00s steps(1,end) infinite" in style
    assert "0.000%{transform:translateX(0px)}25.000%{transform:translateX(-80px)}" in style
    assert "prefers-reduced-motion:reduce" in style


def test_one_picture_alone_stands_still():
    text = film([plain("a"), plain("b")], 10, "t", GROUND, still=1)
    assert "animation" not in text
    assert ">b</text>" in text
    assert ">a</text>" not in text


def test_words_that_stand_apart_are_placed_apart_and_columns_are_drawn():
    row = (Run(0, "a <b>   c ▁█", INK, GROUND, False),)
    [group] = ET.fromstring(film([Picture((row,), 1)], 20, "t", GROUND)).findall(f"{SVG}defs/{SVG}g")
    assert [(one.get("x"), one.text) for one in group.iter(f"{SVG}text")] == [("0", "a <b>"), ("64", "c")]
    [columns] = group.iter(f"{SVG}path")
    assert columns.get("d").count("M") == 2


def test_the_readmes_picture_is_small_and_loads_and_runs_nothing():
    path = ROOT / "docs/inftop.svg"
    text = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1_000_000
    root = ET.fromstring(text)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        "svg",
        "title",
        "style",
        "defs",
        "g",
        "rect",
        "path",
        "text",
        "use",
    }
    assert all(one.get("href").startswith("#") for one in root.iter(f"{SVG}use"))
    assert not re.search(r"url\(|@import|on\w+=", text)
    assert "infinite" in text


def test_a_picture_is_written_where_it_is_told_and_over_the_documents_only_in_place(
    picture, monkeypatch, tmp_path, capsys
):
    async def drawn():
        return "<svg/>"

    before = (ROOT / "docs/wall.svg").read_bytes()
    monkeypatch.setitem(picture.PICTURES, "wall", drawn)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("time.tzset", lambda: None)
    monkeypatch.setenv("TZ", "UTC")
    for words in ([], ["--output", str(tmp_path / "own.svg")]):
        monkeypatch.setattr(sys, "argv", ["picture.py", "wall", *words])
        picture.main()
        assert Path(capsys.readouterr().out.strip()).read_text() == "<svg/>"
    assert (tmp_path / "own.svg").exists()
    assert (ROOT / "docs/wall.svg").read_bytes() == before
