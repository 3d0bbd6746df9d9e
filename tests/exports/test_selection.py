"""What a selection and a command line choose: samples by what they are of, columns by their names."""

import csv
import io
import json
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from probes.exports.columns import OF_SAMPLES, UnknownColumn, chosen
from probes.exports.export import export
from probes.exports.request import export_request
from probes.exports.rollups import OF_ROLLUPS
from probes.exports.selection import Selection
from probes.outcome import Outcome
from probes.sample import COLUMNS, epoch_ms
from probes.store.read.reader import StoreReader
from tests.samples import sample
from tests.store.stores import fill, url_of

SAMPLES = [
    sample(started_at=1, endpoint="a", provider="p", vantage="fra", connection="warm"),
    sample(started_at=2, endpoint="b", provider="q", vantage="sin", connection="cold", outcome=Outcome.TIMEOUT),
    sample(started_at=3, endpoint="a", provider="p", vantage="sin", connection="cold"),
    sample(started_at=4, endpoint="c", provider="r", vantage="fra", outcome=Outcome.DNS),
]
NOTHING = dict.fromkeys(("endpoints", "providers", "vantages", "connections", "outcomes"))


@pytest.fixture
def reader(tmp_path):
    fill(tmp_path / "history.db", SAMPLES)
    with StoreReader(url_of(tmp_path / "history.db")) as reader:
        yield reader


def exported(reader, selection, **options):
    out = io.BytesIO()
    export(reader, out, selection, **options)
    return out.getvalue().decode()


@pytest.mark.parametrize("by_sqlite", [True, False])
@pytest.mark.parametrize(
    ("selection", "started"),
    [
        (Selection(), [1, 2, 3, 4]),
        (Selection(since_ms=2, until_ms=4), [2, 3]),
        (Selection(endpoints=["a", "c"]), [1, 3, 4]),
        (Selection(providers=["q"]), [2]),
        (Selection(vantages=["sin"]), [2, 3]),
        (Selection(connections=["cold"]), [2, 3]),
        (Selection(outcomes=["timeout", "dns"]), [2, 4]),
        (Selection(endpoints=["a"], vantages=["sin"], connections=["cold"], outcomes=["ok"]), [3]),
        (Selection(endpoints=["a"], outcomes=["dns"]), []),
    ],
    ids=repr,
)
def test_samples_are_chosen_by_what_they_are_of(reader, selection, started, by_sqlite):
    reader.of_sqlite = by_sqlite
    told = []
    text = exported(reader, selection, format="jsonl", on_progress=lambda *numbers: told.append(numbers))
    assert [epoch_ms(json.loads(line)["started_at"]) for line in text.splitlines()] == started
    assert {total for _, total in told} == {len(started)}


@pytest.mark.parametrize("by_sqlite", [True, False])
@pytest.mark.parametrize("names", [["endpoint"], ["trusted", "started_at", "outcome_detail", "ttft_ms"], COLUMNS[::-1]])
def test_columns_are_written_in_the_order_asked_for(reader, tmp_path, names, by_sqlite):
    reader.of_sqlite = by_sqlite
    fill(tmp_path / "history.db", [sample(started_at=9, trusted=True, ttft_ms=1.5, outcome_detail="a\nb, c")])
    rows = list(csv.DictReader(io.StringIO(exported(reader, Selection(), columns=chosen(names)), newline="")))
    assert list(rows[0]) == list(names)
    expected = {"endpoint": "sim/model", "trusted": "true", "ttft_ms": "1.5", "outcome_detail": "a\nb, c"}
    assert all(rows[-1][name] == expected[name] for name in expected if name in names)
    last = exported(reader, Selection(), columns=chosen(names), format="jsonl").splitlines()[-1]
    assert list(json.loads(last)) == list(names)


def test_a_column_that_there_is_not_is_guessed():
    with pytest.raises(UnknownColumn, match="no column is named 'tttft_ms'; did you mean 'ttft_ms'"):
        chosen(["started_at", "tttft_ms"])
    with pytest.raises(UnknownColumn, match="known are started_at, vantage"):
        chosen([""])
    with pytest.raises(ValueError, match="named twice"):
        chosen(["e2e_ms", "e2e_ms"])


def test_a_wish_is_made_of_the_words_of_a_command_line():
    words = {**NOTHING, "endpoints": ["a", "b"], "outcomes": ["ok"], "connections": ["warm"]}
    request = export_request(
        "2026-07-01", "2026-07-02T00:00Z", words, rollup=None, columns="outcome, e2e_ms", zone="Europe/Berlin"
    )
    assert request.selection == Selection(
        since_ms=epoch_ms("2026-06-30T22:00:00.000Z"),
        until_ms=epoch_ms("2026-07-02T00:00:00.000Z"),
        endpoints=("a", "b"),
        outcomes=("ok",),
        connections=("warm",),
    )
    assert [one.name for one in request.columns] == ["outcome", "e2e_ms"]
    assert request.zone == ZoneInfo("Europe/Berlin")


def test_a_wish_without_words_is_for_every_column_in_utc():
    request = export_request("2026-07-01", None, NOTHING, rollup=None, columns=None, zone="utc")
    assert (request.columns, request.zone) == (OF_SAMPLES, UTC)
    assert export_request("2026-07-01", None, NOTHING, rollup="day", columns=None, zone="utc").columns == OF_ROLLUPS


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"until": "2026-06-30"}, "--until 2026-06-30 is not after --since 2026-07-01"),
        ({"since": "yesterday"}, "is not a time"),
        ({"zone": "Berlin"}, "did you mean 'Europe/Berlin'"),
        ({"columns": "tttft_ms"}, "did you mean 'ttft_ms'"),
        ({"columns": "ttft_ms_p50"}, "no column is named 'ttft_ms_p50'"),
        ({"columns": "ttft_ms", "rollup": "day"}, "no column is named 'ttft_ms'"),
        ({"words": {"outcomes": ["timeut"]}}, "no outcome 'timeut'; did you mean 'timeout'"),
        ({"words": {"connections": ["lukewarm"]}}, "no connection 'lukewarm'; did you mean 'warm'"),
        ({"words": {"outcomes": ["ok"]}, "rollup": "hour"}, "--outcome chooses samples"),
    ],
)
def test_a_wish_that_cannot_be_says_why(changed, said):
    usual = {"since": "2026-07-01", "until": None, "words": NOTHING, "rollup": None, "columns": None, "zone": "utc"}
    with pytest.raises(ValueError, match=said):
        export_request(**(usual | changed))
