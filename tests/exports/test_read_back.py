"""What an export holds is what other programs read: csv, pandas, DuckDB and pyarrow, value for value.

They are imported by the tests that they are for: that takes longer than the tests, and every worker imports this file.
"""

import csv
import io
import math

import pytest

from probes.exports.export import export
from probes.files import replacing_named
from probes.outcome import Outcome
from probes.sample import COLUMNS, epoch_ms
from probes.store.read.reader import StoreReader
from probes.store.row import KINDS
from tests.samples import sample
from tests.store.stores import fill, url_of

NOW = 1_800_000_000_005
SAMPLES = [
    sample(started_at=NOW, ttft_ms=12.345678, e2e_ms=1e-7, tokens_per_s=33.3333333333, tokens_remaining=-1.0,
           requests_limit=5_000_000.0, cost_usd=0.000123, clock_step_ms=-0.002, output_tokens=256, http_status=200,
           connection="warm", expect_ok=False, trusted=True, over_limit=False, served_model="modèle-1 日本",
           request_id="0012", finish_reason="stop"),
    sample(started_at=NOW + 1, outcome=Outcome.SERVER_ERROR, outcome_detail='500: {"error": "no, \'never\'"}'),
    sample(started_at=NOW + 2, outcome=Outcome.WRONG_ANSWER, outcome_detail='two\nlines, "quoted"', expect_ok=True),
    sample(started_at=NOW + 3, connection="cold", tls_ms=59_999.999999, gap_max_ms=0.1, served_by="a|b;c"),
]  # fmt: skip

# DuckDB's own values for moments in a zone need one more package in Python
ASKED = "SELECT epoch_ms(started_at), * EXCLUDE (started_at) FROM"


@pytest.fixture(params=["by SQLite", "by Python"])
def reader(request, tmp_path):
    fill(tmp_path / "history.db", SAMPLES)
    with StoreReader(url_of(tmp_path / "history.db")) as reader:
        reader.of_sqlite = request.param == "by SQLite"
        yield reader


@pytest.fixture
def written(reader, tmp_path):
    def write(kind):
        export(reader, tmp_path / f"out.{kind}", format=kind)
        return tmp_path / f"out.{kind}"

    return write


def stored(name):
    """The values of a column as they are in the store."""
    return [getattr(one, name) for one in SAMPLES]


def missing(value):
    import pandas

    return value is None or value is pandas.NA or (isinstance(value, float) and math.isnan(value))


def values(column):
    """The values of a column of pandas, None where there is none."""
    return [None if missing(value) else value for value in column]


def test_csv_reads_the_values_back(written):
    of = {"int": int, "float": float, "bool": {"true": True, "false": False}.__getitem__, "text": str, "word": str}
    with written("csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert [epoch_ms(row["started_at"]) for row in rows] == stored("started_at")
    for name in COLUMNS[1:]:
        assert [of[KINDS[name]](row[name]) if row[name] else None for row in rows] == stored(name), name


def test_pandas_reads_the_values_back(written):
    import pandas

    types = {"int": "Int64", "float": "float64", "bool": "boolean", "text": "string", "word": "string"}
    read = pandas.read_csv(
        written("csv"), parse_dates=["started_at"], dtype={name: types[KINDS[name]] for name in COLUMNS[1:]}
    )
    assert tuple(read.columns) == COLUMNS
    assert [round(at.timestamp() * 1000) for at in read["started_at"]] == stored("started_at")
    for name in COLUMNS[1:]:
        assert values(read[name]) == stored(name), name


def test_pandas_guesses_numbers_and_truths(written):
    import pandas

    read = pandas.read_csv(written("csv"))
    assert values(read["ttft_ms"]) == stored("ttft_ms")
    assert values(read["tokens_remaining"]) == stored("tokens_remaining")
    assert values(read["expect_ok"]) == stored("expect_ok")


def test_duckdb_reads_the_values_back_from_csv(written):
    import duckdb

    types = {"int": "BIGINT", "float": "DOUBLE", "bool": "BOOLEAN", "text": "VARCHAR", "word": "VARCHAR"}
    columns = {name: types[KINDS[name]] for name in COLUMNS} | {"started_at": "TIMESTAMPTZ"}
    with duckdb.connect() as connection:
        rows = connection.execute(f"{ASKED} read_csv(?, columns = {columns})", [str(written("csv"))]).fetchall()
    assert [row[0] for row in rows] == stored("started_at")
    for place, name in enumerate(COLUMNS[1:], 1):
        assert [row[place] for row in rows] == stored(name), name


def test_parquet_has_types_and_the_same_values(written):
    import pyarrow.parquet

    read = pyarrow.parquet.read_table(written("parquet"))
    assert tuple(read.column_names) == COLUMNS
    assert read.schema.field("started_at").type == pyarrow.timestamp("ms", "UTC")
    assert read.schema.field("ttft_ms").type == pyarrow.float64()
    assert read.schema.field("trusted").type == pyarrow.bool_()
    assert read.schema.field("outcome").type == pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    assert [round(at.timestamp() * 1000) for at in read["started_at"].to_pylist()] == stored("started_at")
    for name in COLUMNS[1:]:
        assert read[name].to_pylist() == stored(name), name


def test_duckdb_reads_the_values_back_from_parquet(written):
    import duckdb

    with duckdb.connect() as connection:
        rows = connection.execute(f"{ASKED} read_parquet(?)", [str(written("parquet"))]).fetchall()
    assert [row[0] for row in rows] == stored("started_at")
    for place, name in enumerate(COLUMNS[1:], 1):
        assert [row[place] for row in rows] == stored(name), name


def test_parquet_comes_in_groups_of_bounded_size(tmp_path, monkeypatch):
    import pyarrow.parquet

    monkeypatch.setattr("probes.exports.parquet.GROUP", 1_000)
    many = [sample(started_at=NOW + at, ttft_ms=float(at), finish_reason=f"reason {at % 7}") for at in range(3_500)]
    fill(tmp_path / "history.db", many)
    with StoreReader(url_of(tmp_path / "history.db")) as reader:
        export(reader, tmp_path / "out.parquet", format="parquet")
    with pyarrow.parquet.ParquetFile(tmp_path / "out.parquet") as file:
        groups = [file.metadata.row_group(place).num_rows for place in range(file.metadata.num_row_groups)]
        assert groups == [1_000, 1_000, 1_000, 500]
        assert file.read(["ttft_ms"])["ttft_ms"].to_pylist() == [one.ttft_ms for one in many]
        assert file.read(["finish_reason"])["finish_reason"].to_pylist() == [one.finish_reason for one in many]


def test_an_empty_store_is_a_parquet_file_without_rows(tmp_path):
    import pyarrow.parquet

    with StoreReader(url_of(tmp_path / "history.db")) as reader:
        assert export(reader, tmp_path / "out.parquet", format="parquet") == 0
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").num_rows == 0


def test_parquet_can_go_into_a_stream(reader):
    import pyarrow.parquet

    out = io.BytesIO()
    with replacing_named(out) as file:
        export(reader, file, format="parquet")
    assert pyarrow.parquet.read_table(io.BytesIO(out.getvalue())).num_rows == len(SAMPLES)
