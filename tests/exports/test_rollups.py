"""Rollups as rows: counts, extremes and quantiles of what the samples of a bucket were."""

import csv
import io

import pytest

from probes.exports.columns import chosen
from probes.exports.export import export
from probes.exports.rollups import OF_ROLLUPS
from probes.exports.selection import Selection
from probes.outcome import Outcome
from probes.sample import epoch_ms
from probes.stats.quantiles import quantile
from probes.store.read.reader import StoreReader
from tests.samples import sample
from tests.store.stores import fill, url_of

NOON = epoch_ms("2026-11-20T12:00:00.000Z")
MINUTE = 60_000
TTFTS = [100.0 + 7 * at % 400 for at in range(200)]


@pytest.fixture
def reader(tmp_path):
    fill(
        tmp_path / "history.db",
        [
            *(sample(started_at=NOON + at, connection="warm", ttft_ms=ttft) for at, ttft in enumerate(TTFTS)),
            sample(started_at=NOON + 500, connection="warm", outcome=Outcome.TIMEOUT),
            sample(started_at=NOON + 501, connection="warm", outcome=Outcome.RATE_LIMITED),
            sample(started_at=NOON + 502, connection="cold", ttft_ms=9.0, trusted=False, output_tokens=5),
            sample(started_at=NOON + 503, outcome=Outcome.SKIPPED),
            sample(started_at=NOON + 504, outcome=Outcome.OWN_FAULT),
            sample(started_at=NOON + MINUTE, connection="warm", ttft_ms=50.0, endpoint="b", vantage="fra"),
        ],
    )
    with StoreReader(url_of(tmp_path / "history.db")) as reader:
        yield reader


def exported(reader, selection=Selection(), **options):  # noqa: B008
    out = io.BytesIO()
    count = export(reader, out, selection, **options)
    rows = list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline=""), strict=True))
    assert len(rows) == count
    return rows


def test_there_is_a_row_for_each_endpoint_connection_and_bucket(reader):
    rows = exported(reader, rollup="minute")
    assert tuple(rows[0]) == tuple(one.name for one in OF_ROLLUPS)
    assert [(row["start"], row["endpoint"], row["connection"]) for row in rows] == [
        ("2026-11-20T12:00:00.000Z", "sim/model", "cold"),
        ("2026-11-20T12:00:00.000Z", "sim/model", "none"),
        ("2026-11-20T12:00:00.000Z", "sim/model", "warm"),
        ("2026-11-20T12:01:00.000Z", "b", "warm"),
    ]
    counts = (
        "samples",
        "ok",
        "failed",
        "rate_limited",
        "never_sent",
        "untrusted",
        "outcome_timeout",
    )
    assert [[int(row[name]) for name in counts] for row in rows] == [
        [1, 1, 0, 0, 0, 1, 0],
        [2, 0, 0, 0, 1, 0, 0],
        [202, 200, 1, 1, 0, 0, 1],
        [1, 1, 0, 0, 0, 0, 0],
    ]
    assert [row["outcome_skipped"] for row in rows] == ["0", "1", "0", "0"]
    assert [row["outcome_own_fault"] for row in rows] == ["0", "1", "0", "0"]
    assert [row["output_tokens"] for row in rows] == ["5", "0", "0", "0"]


def test_quantiles_are_within_one_percent_and_extremes_exact(reader):
    warm = exported(reader, Selection(connections=["warm"]), rollup="hour")[0]
    assert (float(warm["ttft_ms_min"]), float(warm["ttft_ms_max"])) == (min(TTFTS), max(TTFTS))
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        assert float(warm[f"ttft_ms_{name}"]) == pytest.approx(quantile(sorted(TTFTS), share), rel=0.01)
    assert warm["e2e_ms_p50"] == warm["e2e_ms_min"] == ""


def test_a_quantile_is_never_beyond_the_extremes(reader):
    [row] = exported(reader, Selection(endpoints=["b"]), rollup="day")
    assert [row[f"ttft_ms_{name}"] for name in ("min", "p50", "p95", "p99", "max")] == ["50.0"] * 5


def test_untrusted_samples_are_counted_and_measure_nothing(reader):
    [row] = exported(reader, Selection(connections=["cold"]), rollup="minute")
    assert (row["ok"], row["untrusted"], row["ttft_ms_p50"]) == ("1", "1", "")


def test_rollups_are_chosen_by_the_beginning_of_their_bucket(reader):
    later = exported(reader, Selection(since_ms=NOON + 1), rollup="minute")
    assert [row["endpoint"] for row in later] == ["b"]
    assert exported(reader, Selection(vantages=["fra"]), rollup="minute") == later
    assert exported(reader, Selection(until_ms=NOON), rollup="minute") == []


def test_columns_of_rollups_can_be_chosen(reader):
    columns = chosen(["samples", "start"], OF_ROLLUPS)
    told = []
    rows = exported(reader, rollup="month", columns=columns, on_progress=lambda *numbers: told.append(numbers))
    assert list(rows[0].items()) == [("samples", "1"), ("start", "2026-11-01T00:00:00.000Z")]
    assert told == [(0, 4), (4, 4)]


def test_rollups_as_parquet_have_types(reader, tmp_path):
    import pyarrow.parquet

    assert export(reader, tmp_path / "out.parquet", format="parquet", rollup="hour") == 4
    read = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert read.schema.field("start").type == pyarrow.timestamp("ms", "UTC")
    assert read["samples"].to_pylist() == [1, 2, 202, 1]
    assert read["ttft_ms_p50"].to_pylist()[:2] == [None, None]
