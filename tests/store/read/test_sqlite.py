"""What is particular to a store in a file of SQLite's: whose file it is, and by which index it answers."""

import sqlite3

import pytest

from probes.store.problem import StoreProblem
from probes.store.read.reader import StoreReader
from tests.samples import sample
from tests.store.read.test_reader import everything
from tests.store.stores import fill, url_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.db"


@pytest.fixture
def reader(path):
    with StoreReader(url_of(path)) as reader:
        yield reader


def test_a_missing_store_is_empty_and_stays_missing(reader, path):
    assert everything(reader) == []
    assert not path.exists()


def test_an_empty_file_is_an_empty_store(reader, path):
    path.touch()
    assert everything(reader) == []
    assert path.stat().st_size == 0


def test_a_store_that_was_replaced_is_read_anew(reader, path):
    fill(path, [sample(), sample()])
    assert reader.count() == 2
    path.unlink()
    assert reader.count() == 0
    fill(path, [sample()])
    assert reader.count() == 1


def test_a_file_of_another_program_is_foreign_and_unchanged(reader, path):
    path.write_text("dear diary")
    with pytest.raises(StoreProblem) as caught:
        reader.count()
    assert caught.value.state == "foreign"
    assert path.read_text() == "dear diary"


def test_a_locked_store_is_locked_and_then_read(reader, path):
    fill(path, [sample()])
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreProblem) as caught:
        reader.count()
    assert caught.value.state == "locked"
    holder.close()
    assert reader.count() == 1


def test_nothing_can_be_written_through_a_reader(reader, path):
    fill(path, [sample()])
    with pytest.raises(StoreProblem) as caught:
        list(reader.rows("DELETE FROM sample"))
    assert caught.value.state == "read_only"
    assert reader.count() == 1


@pytest.mark.parametrize(
    ("ask_for", "index"),
    [
        ("latest", "sample_by_endpoint (endpoint_id>? AND endpoint_id<?)"),
        ("last", "sample_by_endpoint (endpoint_id>? AND endpoint_id<?)"),
        ("served", "sample_by_time (started_at>?)"),
        ("last_failures", "sample_failed (endpoint_id>? AND endpoint_id<?)"),
        ("points", "sample_by_time (started_at>?)"),
        ("bills", "sample_by_endpoint (endpoint_id=? AND started_at>?)"),
    ],
)
def test_the_quick_questions_go_by_index(reader, path, monkeypatch, ask_for, index):
    fill(path, [sample()])
    asked = []
    rows = reader._source.rows
    monkeypatch.setattr(reader._source, "rows", lambda sql, values: asked.append((sql, values)) or rows(sql, values))
    questions = {
        "latest": reader.latest,
        "last_failures": lambda: reader.last_failures(1),
        "last": lambda: reader.last(1),
        "served": lambda: list(reader.served(0)),
        "points": lambda: list(reader.points(0)),
        "bills": lambda: reader.bills(0, "local"),
    }
    questions[ask_for]()
    sql, values = asked[0]
    plan = [row[3] for some in rows(f"EXPLAIN QUERY PLAN {sql}", values) for row in some]
    assert any(index in step for step in plan), plan
    assert sum("TEMP B-TREE" in step for step in plan) <= 1, plan  # for what was found, not for what it is found among
