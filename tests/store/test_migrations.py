"""Stores of older versions: read as they are, brought up to date by the next recorder, and nothing is lost."""

import io
import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier

import pytest

from probes.exports.export import export
from probes.sample import COLUMNS
from probes.store.problem import StoreProblem
from probes.store.read.reader import StoreReader
from probes.store.schema import LACKING, REVISIONS
from probes.store.write import database
from probes.store.write.database import open_database
from probes.store.write.migrate import bring_up_to_date
from tests.samples import sample
from tests.store.stores import ask, fill, open_old, url_of

SINCE: dict[str, str] = {
    "0001": "INSERT INTO answer VALUES (1, 1, 'Once.')",
    "0005": "INSERT INTO certificate VALUES (1, 5, 'host', '{}')",
    "0007": """
        INSERT INTO race VALUES (1, 5, 'local', 0, '{}', '[]', '[]', '{}', NULL);
        INSERT INTO heat VALUES (1, 1, 1, 5, '[]', 0.5, 'n');
        INSERT INTO lane VALUES (1, 1, 1, 'a', 1, '{}', 'Once.', x'00ff')
    """,
    "0008": """
        INSERT INTO rollup (tier, endpoint_id, connection, start, samples, ok, failed, rate_limited, never_sent,
            untrusted, last_at, cost_usd, input_tokens, output_tokens, outcomes)
        VALUES ('day', 1, 'cold', 0, 3, 3, 0, 0, 0, 0, 9, 0.5, 1, 2, '{"ok":3}');
        INSERT INTO sketch (tier, endpoint_id, connection, start, ttft_ms) VALUES ('day', 1, 'cold', 0, x'000101');
        INSERT INTO unrolled VALUES (1, 1, 1)
    """,
}
"""Rows of what came with a version: what every later one can hold too."""

VIEWS = {"samples_by_minute", "samples_by_hour", "samples_by_day"}

OLD = sample(started_at=10, ttft_ms=1.5, tokens_per_s=80.0, prompt_version="0badcafe", connection="warm")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """What the process of its own does, which takes half a second to begin."""
    monkeypatch.setattr(database, "upgrade", bring_up_to_date)


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
        for revision, rows in SINCE.items():
            if revision <= request.param:
                connection.executescript(rows)
        yield connection


def held(path):
    """All rows of all tables but the version, by table."""
    names = [name for (name,) in ask(path, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: ask(path, f"SELECT * FROM {name}") for name in names if name != "alembic_version"}


def test_it_is_read_without_being_touched(old, path):
    before = ask(path, "SELECT sql FROM sqlite_master")
    with closing(StoreReader(url_of(path))) as reader:
        assert list(reader.samples()) == [reader.sample(1)] == [*reader.latest().values()] == [OLD]
        (point,) = reader.points(0)
        assert (point.ttft_ms, point.server_load_ms, point.tokens_per_s) == (1.5, None, 80.0)
        assert reader.count() == reader.recorded() == reader.last_id() == 1
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
    open_database(path).close()
    assert ask(path, "SELECT version_num FROM alembic_version") == [(REVISIONS[-1],)]
    assert [row[1] for row in ask(path, "PRAGMA table_info(samples)")] == list(COLUMNS)
    with closing(StoreReader(url_of(path))) as reader:
        assert list(reader.samples()) == [OLD]


def test_the_upgrade_keeps_every_row_of_every_table(old, path):
    before = held(path)
    assert before["answer"] == [(1, 1, "Once.")]
    open_database(path).close()
    after = held(path)
    for table, rows in before.items():
        assert [row[: len(then)] for row, then in zip(after[table], rows, strict=True)] == rows
    views = {name for (name,) in ask(path, "SELECT name FROM sqlite_master WHERE type = 'view'")}
    assert views == VIEWS | {"samples"}
    assert after["unrolled"] == [(1, 1, 1)]
    assert ask(path, "PRAGMA foreign_key_check") == []
    assert len(after["identity"][0][1]) == 32


def test_a_copy_of_what_it_was_stays_beside_it(old, path):
    before = held(path), ask(path, "SELECT version_num FROM alembic_version")
    spare = path.with_name(f"history.db.before-{REVISIONS[-1]}")
    older = path.with_name("history.db.before-0005")
    older.touch()
    path.with_name(f".inftop-0123-{spare.name}").touch()  # of one that was killed
    spare.symlink_to(path.with_name("nowhere"))
    open_database(path).close()
    assert (held(spare), ask(spare, "SELECT version_num FROM alembic_version")) == before
    assert spare.stat().st_mode & 0o777 == 0o600
    assert not spare.is_symlink()
    assert sorted(one.name for one in path.parent.glob("*before*")) == [spare.name]
    assert not path.with_name("nowhere").exists()
    assert not older.exists()


def test_a_new_store_and_one_that_is_up_to_date_leave_no_copy(path):
    for _ in range(2):
        open_database(path).close()
    assert [one.name for one in path.parent.iterdir()] == ["history.db"]


def test_two_threads_make_stores_at_once(tmp_path):
    together = Barrier(4)

    def make(number):
        together.wait()
        open_database(tmp_path / f"{number}.db").close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(make, range(4)))


def test_where_a_copy_does_not_fit_the_store_is_left_as_it_was(tmp_path):
    disk, made = tmp_path / "disk", tmp_path / "history.db"
    with closing(open_old(made, "0007")) as connection:
        connection.execute("INSERT INTO certificate VALUES (1, 5, 'host', hex(zeroblob(300000)))")
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("making a small disk needs the right to mount")
    try:
        path = disk / made.name
        shutil.copy(made, path)
        with pytest.raises(StoreProblem) as caught:
            open_database(path)
        assert caught.value.state == "full"
        assert path.read_bytes() == made.read_bytes()
        assert [one.name for one in disk.iterdir()] == ["history.db"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_every_older_version_says_what_it_lacks(tmp_path):
    now = {row[1] for row in ask(_current(tmp_path / "now.db"), "PRAGMA table_info(sample)")}
    assert set(LACKING) == set(REVISIONS[:-1])
    for revision, lacking in LACKING.items():
        with closing(open_old(tmp_path / f"{revision}.db", revision)) as connection:
            then = {row[1] for row in connection.execute("PRAGMA table_info(sample)")}
        assert then | set(lacking) == now
        assert not then & set(lacking)


def _current(path):
    open_database(path).close()
    return path


def test_who_records_is_known_after_the_upgrade_too(path):
    row = ("local", 7, "host", "0.1.0", 1, 2, "{}")
    with closing(open_old(path, "0016")) as connection:
        connection.execute("INSERT INTO recorder VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    open_database(path).close()
    assert ask(path, "SELECT * FROM recorder") == [(*row, "")]
