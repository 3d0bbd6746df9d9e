"""Exports: the right columns, every value as it was, nothing that a spreadsheet or a terminal would obey."""

import csv
import io
import json
import os
import sqlite3
import stat
import tracemalloc

import pytest

from probes.exports.export import export
from probes.exports.selection import Selection
from probes.outcome import Outcome
from probes.sample import COLUMNS, Sample
from probes.store.problem import StoreProblem
from probes.store.read.reader import StoreReader
from tests.samples import sample
from tests.store.stores import fill, url_of

FULL = sample(
    started_at=1_800_000_000_005, outcome=Outcome.WRONG_ANSWER, outcome_detail='no "blue" in it', http_status=200,
    connection="warm", due_lag_ms=0.25, ttft_ms=12.345678, e2e_ms=1e-7, output_tokens=256, token_source="usage",
    tokens_per_s=33.3333333333, requests_limit=5_000_000.0, tokens_remaining=-1.0, served_model="modèle-1",
    expect_ok=False, cost_usd=0.000123, clock="user",
)  # fmt: skip
SAMPLES = [
    FULL,
    sample(started_at=1_800_000_001_000, endpoint="b", expect_ok=True),
    sample(started_at=1_800_000_002_000),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.db"


@pytest.fixture
def reader(path):
    with StoreReader(url_of(path)) as reader:
        yield reader


def exported(reader, selection=Selection(), **options) -> str:  # noqa: B008
    out = io.BytesIO()
    export(reader, out, selection, **options)
    return out.getvalue().decode()


def typed(name: str, cell: str):
    """A CSV field as the value it stands for."""
    if cell == "":
        return None
    if cell in ("true", "false"):
        return cell == "true"
    whole = {"http_status", "input_tokens", "output_tokens", "chunks"}
    return (
        int(cell)
        if name in whole
        else float(cell)
        if name.endswith(("_ms", "_s", "_usd", "limit", "remaining"))
        else cell
    )


def cells(text: str) -> list[Sample]:
    return [
        Sample.from_json({name: typed(name, cell) for name, cell in row.items()})
        for row in csv.DictReader(io.StringIO(text, newline=""), strict=True)
    ]


def test_a_csv_holds_every_column_and_every_value(reader, path):
    fill(path, SAMPLES)
    text = exported(reader)
    assert text.splitlines()[0] == ",".join(COLUMNS)
    assert cells(text) == SAMPLES


def test_json_lines_hold_every_column_and_every_value(reader, path):
    fill(path, SAMPLES)
    records = [json.loads(one) for one in exported(reader, format="jsonl").splitlines()]
    assert all(tuple(record) == COLUMNS for record in records)
    assert [Sample.from_json(record) for record in records] == SAMPLES
    assert records == [one.to_json() for one in SAMPLES]


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("plain", "plain"),
        ('"', '"'),
        ("a,b", "a,b"),
        ("two\nlines", "two\nlines"),
        ("tab\tin it", "tab\tin it"),
        ("wide\u3000space \u2028 and é", "wide\u3000space \u2028 and é"),
        ("back\\u0041slash %s ' '' \\", "back\\u0041slash %s ' '' \\"),
        ("", ""),
    ],
)
def test_a_text_is_read_back_as_it_was(reader, path, stored, shown):
    one = sample(outcome_detail=stored, endpoint=f"e{stored}")
    fill(path, [one])
    [row] = csv.DictReader(io.StringIO(exported(reader), newline=""), strict=True)
    assert (row["outcome_detail"], row["endpoint"]) == (shown, f"e{shown}")
    [record] = exported(reader, format="jsonl").split("\n")[:-1]
    assert json.loads(record) == one.to_json()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", '=HYPERLINK("http://x","y")', "-x, y"])
def test_a_text_that_looks_like_a_formula_is_made_plain(reader, path, text):
    fill(path, [sample(served_model=text, model=text, tokens_remaining=-1.0)])
    [row] = csv.DictReader(io.StringIO(exported(reader), newline=""), strict=True)
    assert row["served_model"] == row["model"] == f"'{text}"
    assert row["tokens_remaining"] == "-1.0"


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_control_characters_of_a_foreign_hand_are_stripped(reader, path, kind):
    fill(path, [sample(outcome_detail="CLEAN", model="CLEAN"), sample(outcome_detail="next")])
    other = sqlite3.connect(path)
    hostile = "a\x1b]0;title\x07b\x1b[2Jc\x9b1md\x7f\u202ee"
    other.execute("UPDATE sample SET outcome_detail = ? WHERE id = 1", [hostile])
    other.execute("UPDATE endpoint SET model = ? WHERE model = 'CLEAN'", [hostile])
    other.commit()
    other.close()
    text = exported(reader, format=kind)
    assert text.count("abc1mde") == 2
    assert "next" in text
    assert all(character == "\n" or character.isprintable() for character in text)
    assert "\\u001b" not in text


def test_a_lone_row_is_redone_without_disturbing_the_order(reader, path):
    fill(path, [sample(started_at=at, outcome_detail="two\nlines" if at % 10 == 0 else "one") for at in range(2500)])
    assert [one.started_at for one in cells(exported(reader))] == list(range(2500))


def test_spans_and_endpoints_are_chosen(reader, path):
    fill(path, [sample(started_at=at, endpoint=name) for at, name in enumerate("abcab")])
    chosen = cells(exported(reader, Selection(since_ms=1, until_ms=4, endpoints=["a", "b"])))
    assert [(one.started_at, one.endpoint) for one in chosen] == [(1, "b"), (3, "a")]


def test_a_missing_store_exports_no_samples(reader):
    assert exported(reader) == ",".join(COLUMNS) + "\n"
    assert exported(reader, format="jsonl") == ""


def test_progress_is_told(reader, path):
    fill(path, [sample(started_at=at) for at in range(2500)])
    told = []
    count = export(reader, io.BytesIO(), Selection(since_ms=100), on_progress=lambda *numbers: told.append(numbers))
    assert count == 2400
    assert told == [(0, 2400), (1000, 2400), (2000, 2400), (2400, 2400)]


def test_a_file_appears_whole_and_for_its_owner_alone(reader, path, tmp_path):
    fill(path, SAMPLES)
    target = tmp_path / "out" / "samples.csv"
    target.parent.mkdir()
    before = os.umask(0)
    try:
        assert export(reader, target) == 3
    finally:
        os.umask(before)
    assert target.read_text() == exported(reader)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(target.parent.iterdir()) == [target]


def test_an_export_that_fails_leaves_what_was_there(reader, path, tmp_path):
    fill(path, [sample(started_at=at) for at in range(2500)])
    target = tmp_path / "out" / "samples.csv"
    target.parent.mkdir()
    target.write_text("yesterday's")

    def give_up(done: int, total: int) -> None:
        if done > 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(reader, target, on_progress=give_up)
    assert target.read_text() == "yesterday's"
    assert list(target.parent.iterdir()) == [target]


def test_a_store_that_cannot_be_read_leaves_no_file(reader, path, tmp_path):
    path.write_text("dear diary")
    with pytest.raises(StoreProblem):
        export(reader, tmp_path / "samples.csv")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["history.db"]


def test_a_link_stays_a_link(reader, path, tmp_path):
    fill(path, SAMPLES)
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    export(reader, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == exported(reader)


def test_a_device_is_written_to_not_replaced(reader, path, tmp_path):
    fill(path, SAMPLES)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)  # a reader must be there for the pipe to open
    try:
        export(reader, pipe)
        assert os.read(end, 65536).decode() == exported(reader)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    finally:
        os.close(end)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_memory_does_not_grow_with_the_samples(reader, path, tmp_path, kind):
    def peak() -> int:
        tracemalloc.start()
        export(reader, tmp_path / "out", format=kind)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    fill(path, [sample(started_at=at) for at in range(1000)])
    peak()  # what is made once, on the first export, is not growth
    few = peak()
    fill(path, [sample(started_at=at) for at in range(5000)])
    assert peak() < 2 * few  # six times the samples
