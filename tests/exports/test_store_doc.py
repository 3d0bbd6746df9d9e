"""docs/store.md names what is there; the examples of docs/exporting.md run on a real store and its exports."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from probes.exports.export import export
from probes.outcome import Outcome
from probes.sample import epoch_ms
from probes.store.read.reader import StoreReader
from tests.samples import sample
from tests.store.stores import fill, url_of

DOCS = Path(__file__).parents[2] / "docs"
DOC = (DOCS / "store.md").read_text(encoding="utf-8")
READING = (DOCS / "exporting.md").read_text(encoding="utf-8")
NOON = epoch_ms("2026-11-20T12:00:00.000Z")
SAMPLES = [
    sample(started_at=NOON, connection="warm", ttft_ms=100.0, gap_max_ms=7.0, trusted=True),
    sample(started_at=NOON + 1, connection="warm", ttft_ms=300.0, gap_max_ms=9.0, trusted=True),
    sample(started_at=NOON + 2, connection="warm", ttft_ms=999.0, trusted=False),
    sample(started_at=NOON + 3, outcome=Outcome.TIMEOUT),
    sample(started_at=NOON + 4, outcome=Outcome.RATE_LIMITED),
]


def queries(language):
    return re.findall(rf"```{language}\n(.*?)```", READING, re.DOTALL)


@pytest.fixture
def path(tmp_path):
    fill(tmp_path / "history.db", SAMPLES)
    return tmp_path / "history.db"


@pytest.fixture
def store(path):
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        yield connection


def test_the_queries_for_sqlite_run(store):
    failures, errors = (store.execute(query).fetchall() for query in queries("sql"))
    assert failures == [("sim/model", "timeout", 1, "2026-11-20T12:00:00.003Z")]
    assert errors == [("2026-11-20T12:00:00Z", "sim/model", 4, 25.0, 100.0, 9.0)]


def test_the_query_for_duckdb_runs(path, tmp_path):
    import duckdb

    """On the same rows from a file: DuckDB would have to download what opens an SQLite file."""
    [(attach, query)] = [text.split("\n\n", 1) for text in queries("duckdb")]
    assert attach == "ATTACH 'history.db' AS history (TYPE sqlite, READ_ONLY);"
    with StoreReader(url_of(path)) as reader:
        export(reader, tmp_path / "samples.parquet", format="parquet")
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS history")
        started = "strftime(started_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') AS started_at"
        as_stored = f"SELECT * REPLACE ({started}, trusted::INT AS trusted) FROM '{tmp_path / 'samples.parquet'}'"
        connection.execute(f"CREATE TABLE history.samples AS {as_stored}")
        assert connection.execute(query).fetchall() == [("sim/model", 13, 2, 200.0, 290.0)]


def test_what_is_named_is_there(store):
    named = {name for row in re.findall(r"^\| (`.*?) \|", DOC, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    there = {name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    assert {"samples", "samples_by_minute", "sample", "rollup", "lane"} <= named <= there
    assert {name for name in there if name.startswith("samples")} <= named


def test_the_example_for_pandas_runs(path, tmp_path, monkeypatch, capsys):
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    with StoreReader(url_of(path)) as reader:
        export(reader, tmp_path / "day.csv", format="csv")
        export(reader, tmp_path / "week.parquet", format="parquet")
    [example] = queries("python")
    exec(example, {})
    printed = capsys.readouterr().out
    assert "sim/model warm" in " ".join(printed.split())
    assert re.search(r"200\.0\s+290\.0", printed)
    assert 'pd.read_parquet("week.parquet")' in READING
    assert str(pd.read_parquet("week.parquet")["started_at"].dtype).startswith("datetime64")
