"""Stores of older versions: read as they are, brought up to date by the next recorder, and nothing is lost."""

import io
import json
from contextlib import closing

import pytest

from probes.exports.export import export
from probes.sample import COLUMNS
from probes.store.database import open_database
from probes.store.reader import StoreReader
from probes.store.schema import LACKING, REVISIONS
from tests.samples import sample
from tests.store.stores import ask, fill, open_old, url_of

OLD = sample(started_at=10, ttft_ms=1.5, tokens_per_s=80.0, prompt_version="0badcafe", connection="warm")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.db"


@pytest.fixture(params=REVISIONS[:-1])
def old(path, request):
    """A store of an older version that holds `OLD`, and the connection of whoever wrote it."""
    with closing(open_old(path, request.param)) as connection:
        connection.execute("INSERT INTO endpoint VALUES (1, 'local', 'sim/model', 'sim', 'openai_chat', 'model')")
        connection.execute(
            "INSERT INTO sample (endpoint_id, started_at, outcome, ttft_ms, tokens_per_s, prompt_version, connection)"
            " VALUES (1, 10, 'ok', 1.5, 80.0, '0badcafe', 'warm')"
        )
        yield connection


def test_it_is_read_without_being_touched(old, path):
    before = ask(path, "SELECT sql FROM sqlite_master")
    with closing(StoreReader(url_of(path))) as reader:
        assert list(reader.samples()) == [reader.sample(1)] == [*reader.latest().values()] == [OLD]
        (point,) = reader.points(0)
        assert (point.ttft_ms, point.server_load_ms, point.tokens_per_s) == (1.5, None, 80.0)
        assert reader.count() == reader.last_id() == 1
        out = io.BytesIO()
        assert export(reader, out, format="jsonl") == 1
        assert json.loads(out.getvalue()) == OLD.to_json()
    assert ask(path, "SELECT sql FROM sqlite_master") == before


def test_a_reader_that_was_there_before_the_upgrade_sees_what_comes_after_it(old, path):
    with closing(StoreReader(url_of(path))) as reader:
        assert reader.count() == 1
        new = sample(started_at=20, server_load_ms=2.5)
        fill(path, [new])
        assert list(reader.samples()) == [OLD, new]
        assert [point.server_load_ms for point in reader.points(0)] == [None, 2.5]


def test_the_upgrade_loses_nothing(old, path):
    open_database(path).dispose()
    assert ask(path, "SELECT version_num FROM alembic_version") == [(REVISIONS[-1],)]
    assert [row[1] for row in ask(path, "PRAGMA table_info(samples)")] == list(COLUMNS)
    with closing(StoreReader(url_of(path))) as reader:
        assert list(reader.samples()) == [OLD]


def test_every_older_version_says_what_it_lacks(tmp_path):
    now = {row[1] for row in ask(_current(tmp_path / "now.db"), "PRAGMA table_info(sample)")}
    assert set(LACKING) == set(REVISIONS[:-1])
    for revision, lacking in LACKING.items():
        with closing(open_old(tmp_path / f"{revision}.db", revision)) as connection:
            then = {row[1] for row in connection.execute("PRAGMA table_info(sample)")}
        assert then | set(lacking) == now
        assert not then & set(lacking)


def _current(path):
    open_database(path).dispose()
    return path
