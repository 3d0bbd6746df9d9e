"""Exports of either database: the same rows, whoever keeps them."""

import csv
import io
from zoneinfo import ZoneInfo

import pytest

from probes.exports.export import export
from probes.exports.selection import Selection
from probes.outcome import Outcome
from probes.store.read.reader import StoreReader
from tests.samples import sample
from tests.store.stores import fill

NOW = 1_800_000_000_005
SAMPLES = [
    sample(started_at=NOW, vantage="fra", ttft_ms=12.345678, trusted=True, connection="warm", outcome_detail='=1, "2"'),
    sample(started_at=NOW + 1, vantage="sin", ttft_ms=1.5, trusted=False, connection="cold", http_status=200),
    sample(started_at=NOW + 2, vantage="fra", outcome=Outcome.TIMEOUT, connection="warm"),
]


@pytest.fixture
def reader(store):
    fill(store, SAMPLES)
    with StoreReader(store) as reader:
        yield reader


def rows(reader, selection, **options):
    out = io.BytesIO()
    export(reader, out, selection, **options)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline=""), strict=True))


def test_samples_are_the_same_of_either(reader):
    chosen = Selection(vantages=["fra"], outcomes=["ok", "timeout"], since_ms=NOW)
    found = rows(reader, chosen, zone=ZoneInfo("Asia/Tokyo"))
    assert [row["started_at"] for row in found] == ["2027-01-15T17:00:00.005+09:00", "2027-01-15T17:00:00.007+09:00"]
    assert [found[0][name] for name in ("ttft_ms", "trusted", "outcome_detail")] == ["12.345678", "true", '\'=1, "2"']
    assert [row["trusted"] for row in rows(reader, Selection(connections=["cold"]))] == ["false"]


def test_rollups_are_the_same_of_either(reader):
    told = []
    found = rows(
        reader, Selection(vantages=["fra"]), rollup="minute", on_progress=lambda *numbers: told.append(numbers)
    )
    assert [(row["samples"], row["failed"], row["ttft_ms_p50"]) for row in found] == [("2", "1", "12.345678")]
    assert told == [(0, 1), (1, 1)]


def test_parquet_is_the_same_of_either(reader, tmp_path):
    import pyarrow.parquet

    assert export(reader, tmp_path / "out.parquet", format="parquet") == 3
    read = pyarrow.parquet.read_table(tmp_path / "out.parquet", columns=["ttft_ms", "trusted", "vantage"])
    assert read["ttft_ms"].to_pylist() == [12.345678, 1.5, None]
    assert read["trusted"].to_pylist() == [True, False, None]
    assert read["vantage"].to_pylist() == ["fra", "sin", "fra"]
