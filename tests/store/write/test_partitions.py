"""Partitions of a PostgreSQL store's samples: made of a table in use, ahead of time, emptied and dropped when old."""

import asyncio
import re
import time
from contextlib import suppress
from itertools import count

import psycopg
import pytest

from probes.outcome import Outcome
from probes.sample import epoch_ms
from probes.store.read.postgres import numbered
from probes.store.read.reader import StoreReader
from probes.store.retention import Retention
from probes.store.write import partition_ahead
from probes.store.write import partitions as months
from probes.store.write.database import open_store
from probes.store.write.partition_ahead import prepare_partitions
from probes.store.write.partitions import make_months, month_start, partitions
from probes.store.write.pruning import do_upkeep, prune_progress
from probes.store.write.writer import Writer
from tests.samples import sample
from tests.store.stores import ask, fill, other, until

NOW = epoch_ms("2030-03-15T14:00:00Z")
DAY = 24 * 3_600_000
MINUTE = 60_000
NAMES = "SELECT c.relname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'sample'::regclass"
WHERE = "SELECT tableoid::regclass::text, started_at FROM sample ORDER BY started_at"
INDEXES = """
SELECT count(*) FROM pg_inherits JOIN pg_index ON indrelid = inhrelid
WHERE inhparent = 'sample'::regclass GROUP BY inhrelid
"""
COUNTS = "SELECT count(*), count(DISTINCT id) FROM sample"
ENDS = "SELECT conname, convalidated FROM pg_constraint WHERE conname ~ '_(end|start)$' ORDER BY 1"
UNPREPARED = """
TRUNCATE sample; DROP TABLE IF EXISTS sample_other; DROP INDEX IF EXISTS sample_before_pkey;
ALTER TABLE sample DROP CONSTRAINT IF EXISTS sample_before_end
"""
ENDPOINT = "INSERT INTO endpoint (vantage, name, provider, dialect, model) VALUES ('a', 'b', 'c', 'd', 'e')"
OLD = (
    "INSERT INTO sample (endpoint_id, started_at, outcome) SELECT 1, {first} + n * 1000, 'ok' "
    "FROM generate_series(0, {count} - 1) n"
)


KEPT = Retention(raw=20 * 24 * 3600)


def upkeep(database, now=NOW, kept=KEPT):
    """Upkeep until nothing is left to do."""
    engine, more = open_store(database), True
    while more:
        with engine.begin() as connection:
            more = do_upkeep(connection, kept, now)
    engine.close()


def names(database):
    return sorted(name for (name,) in ask(database, NAMES))


@pytest.mark.parametrize(
    ("at", "months", "start"),
    [
        ("2030-03-15T14:00:00Z", 0, "2030-03-01T00:00:00Z"),
        ("2030-11-30T23:59:59Z", 2, "2031-01-01T00:00:00Z"),
        ("2032-01-01T00:00:00Z", -1, "2031-12-01T00:00:00Z"),
    ],
)
def test_a_month_begins_in_utc(at, months, start):
    assert month_start(epoch_ms(at), months) == epoch_ms(start)


def test_this_month_and_the_next_two_are_made_ahead_and_take_what_is_theirs(database):
    fill(database, [sample(started_at=at) for at in (0, NOW, NOW + 20 * DAY, NOW + 400 * DAY)])
    upkeep(database)
    assert {"sample_2030_03", "sample_2030_04", "sample_2030_05"} < set(names(database))
    assert [where for where, _ in ask(database, WHERE) if where != "sample_before"] == [
        "sample_2030_03",
        "sample_2030_04",
        "sample_other",
    ]
    before = names(database)
    upkeep(database)
    assert names(database) == before


def test_while_somebody_reads_the_months_are_made_later_and_nobody_waits(database):
    fill(database, [sample(started_at=NOW)])
    with psycopg.connect(database) as reading:
        reading.execute("SELECT count(*) FROM sample")
        upkeep(database)
        assert "sample_2030_03" not in names(database)
        reading.rollback()
    upkeep(database)
    assert ask(database, WHERE) == [("sample_2030_03", NOW)]


def test_a_recorder_that_was_off_for_long_makes_the_months_before_its_first_sample(database):
    for name in set(names(database)) - {"sample_before", "sample_other"}:
        with other(database) as connection:
            connection.execute(f"DROP TABLE {name}")
    now = time.time_ns() // 1_000_000
    fill(database, [sample(started_at=now)])
    [(table, _)] = ask(database, WHERE)
    assert re.fullmatch(r"sample_\d{4}_\d\d", table)


def test_who_may_not_make_months_stores_samples_all_the_same(database):
    for name in set(names(database)) - {"sample_before", "sample_other"}:
        with other(database) as connection:
            connection.execute(f"DROP TABLE {name}")
    with other(database) as connection:
        connection.execute("CREATE ROLE makes_no_months LOGIN")
        connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO makes_no_months")
        connection.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO makes_no_months")
    fill(database.replace("user=inftop", "user=makes_no_months"), [sample(started_at=time.time_ns() // 1_000_000)])
    assert [table for table, _ in ask(database, WHERE)] == ["sample_other"]


def test_a_whole_month_goes_and_what_is_near_a_failure_stays(database):
    upkeep(database, now=NOW - 70 * DAY)  # January to March
    calm, failed = NOW - 70 * DAY, NOW - 43 * DAY
    fill(
        database,
        [
            *(sample(started_at=calm + number * MINUTE) for number in range(300)),
            *(sample(started_at=failed + number * MINUTE) for number in range(-30, 30) if number),
            sample(started_at=failed, outcome=Outcome.TIMEOUT),
            *(sample(started_at=failed + number * MINUTE, endpoint="calm") for number in range(5)),
            sample(started_at=NOW),
        ],
    )
    assert {where for where, _ in ask(database, WHERE)} == {"sample_2030_01", "sample_2030_03"}
    size = "SELECT pg_relation_size('sample_2030_01')"
    before = ask(database, size)[0][0]
    upkeep(database)
    kept = [at for where, at in ask(database, WHERE) if where == "sample_2030_01"]
    assert kept == [failed + number * MINUTE for number in range(-10, 11)]
    assert ask(database, size)[0][0] < before  # emptied, not deleted from
    upkeep(database, now=NOW + 100 * DAY)
    assert ask(database, WHERE)[-1] == ("sample_2030_03", NOW)  # the newest stays
    assert "sample_2030_02" not in names(database)


def test_a_month_that_somebody_reads_is_pruned_step_by_step(database):
    upkeep(database, now=NOW - 70 * DAY)
    fill(database, [*(sample(started_at=NOW - 70 * DAY + one) for one in range(10)), sample(started_at=NOW)])
    with psycopg.connect(database) as reading:
        reading.execute("SELECT count(*) FROM sample")
        upkeep(database)
        reading.rollback()
    assert [at for _, at in ask(database, WHERE)] == [NOW]
    engine = open_store(database)
    with engine.begin() as connection:
        assert prune_progress(connection)["raw"].until > NOW - 21 * DAY
    engine.close()


@pytest.mark.parametrize("killed_after", ["nothing", "index", "invalid index", "check"])
def test_a_table_in_use_becomes_the_oldest_partition(postgres, killed_after):
    database = postgres.store("0017")
    now = time.time_ns() // 1_000_000
    with other(database) as theirs:
        theirs.execute(ENDPOINT)
        theirs.execute(OLD.format(first=now - 5_000_000, count=5_000))
        theirs.execute("GRANT SELECT ON sample, samples TO pg_monitor")
        theirs.execute("GRANT UPDATE (outcome) ON sample TO PUBLIC")
        if killed_after != "nothing":
            theirs.execute("CREATE UNIQUE INDEX sample_before_pkey ON sample (id, started_at)")
        if killed_after == "invalid index":
            theirs.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sample_before_pkey'::regclass")
        if killed_after == "check":
            end = month_start(now, 2)
            theirs.execute(f"ALTER TABLE sample ADD CONSTRAINT sample_before_end CHECK (started_at < {end}) NOT VALID")
        prepare_partitions(theirs, now)
        theirs.execute(OLD.format(first=now, count=1))  # an older recorder goes on meanwhile
        open_store(database).close()
        theirs.execute(OLD.format(first=now + 1000, count=1))  # and afterwards
        theirs.execute(OLD.format(first=now + 400 * DAY, count=1))
    assert ask(database, "SELECT count(*), count(DISTINCT id), max(id) FROM sample") == [(5_003, 5_003, 5_003)]
    assert {where for where, _ in ask(database, WHERE)} == {"sample_before", "sample_other"}
    assert ask(database, "SELECT count(*) FROM samples") == [(5_003,)]
    for relation, may in (("sample", True), ("samples", True), ("endpoint", False)):
        assert ask(database, f"SELECT has_table_privilege('pg_monitor', '{relation}', 'SELECT')") == [(may,)]
    assert ask(database, "SELECT has_column_privilege('pg_monitor', 'sample', 'outcome', 'UPDATE')") == [(True,)]
    assert ask(database, "SELECT count(*) FROM pg_constraint WHERE conname = 'sample_before_end'") == [(0,)]
    postgres.drop(database)


@pytest.mark.parametrize("prepared_ago", [None, 0, 300 * DAY])
def test_samples_of_a_clock_that_was_ahead_are_moved_before_the_upgrade_and_seen_all_the_time(
    postgres, prepared_ago, monkeypatch
):
    database = postgres.store("0017")
    monkeypatch.setattr(partition_ahead, "_STEP", 2)
    now = time.time_ns() // 1_000_000
    with other(database) as theirs:
        theirs.execute(ENDPOINT)
        for first, count in ((now - 200 * DAY, 2), (now, 3), (now + 4000 * DAY, 5)):
            theirs.execute(OLD.format(first=first, count=count))
        if prepared_ago is not None:
            prepare_partitions(theirs, now - prepared_ago)
            assert ask(database, COUNTS) == [(10, 10)]
            with pytest.raises(psycopg.errors.CheckViolation):  # who is so far ahead waits
                theirs.execute(OLD.format(first=now + 4000 * DAY, count=1))
    open_store(database).close()
    assert [where for where, _ in ask(database, WHERE)] == [*["sample_before"] * 5, *["sample_other"] * 5]
    assert ask(database, "SELECT DISTINCT id FROM sample ORDER BY 1")[-1] >= (10,)
    assert {one[0] for one in ask(database, INDEXES)} == {4}
    assert ask(database, "SELECT count(*) FROM pg_constraint WHERE conname ~ '_(end|start)$'") == [(0,)]
    postgres.drop(database)


def test_a_sample_ahead_that_comes_while_others_are_moved_is_moved_too(postgres, monkeypatch):
    database, now, real = postgres.store("0017"), time.time_ns() // 1_000_000, partition_ahead._put_aside

    def with_late_one(connection: psycopg.Connection, end: int) -> None:
        real(connection, end)
        if ask(database, "SELECT conname FROM pg_constraint WHERE conname = 'sample_before_end'") == []:
            theirs.execute(OLD.format(first=end, count=1))

    monkeypatch.setattr(partition_ahead, "_put_aside", with_late_one)
    with other(database) as theirs:
        theirs.execute(ENDPOINT)
        theirs.execute(OLD.format(first=now, count=1))
        prepare_partitions(theirs, now)
        assert theirs.execute("SELECT count(*) FROM ONLY sample").fetchone() == (1,)
        assert theirs.execute(COUNTS).fetchone() == (2, 2)
        assert theirs.execute(ENDS).fetchall() == [("sample_before_end", True), ("sample_other_start", True)]
    postgres.drop(database)


class Killed(psycopg.Connection):
    """A connection whose client is gone before its statement of that number, as the server sees a kill."""

    before = 0

    def execute(self, *words, **more):
        if self.before == 0:
            self.close()
            self.before = -1
            raise psycopg.OperationalError("killed")
        self.before -= 1
        return super().execute(*words, **more)


def test_who_is_killed_before_any_statement_of_the_preparation_loses_nothing_and_the_next_goes_on(
    postgres, monkeypatch
):
    monkeypatch.setattr(partition_ahead, "_STEP", 3)
    monkeypatch.setattr(partition_ahead, "_AGAIN_S", 0.001)
    database, now, moved = postgres.store("0017"), time.time_ns() // 1_000_000, set()
    with other(database) as theirs:
        theirs.execute(ENDPOINT)
        for before in count():
            theirs.execute(UNPREPARED)
            for first in (now, now + 4000 * DAY):
                theirs.execute(OLD.format(first=first, count=5))
            with Killed.connect(database, autocommit=True) as one, suppress(psycopg.OperationalError):
                one.before = before
                prepare_partitions(one, now)
            assert theirs.execute(COUNTS).fetchone() == (10, 10)
            moved.add(10 - theirs.execute("SELECT count(*) FROM ONLY sample").fetchone()[0])
            if one.before >= 0:
                break
            prepare_partitions(theirs, now)
            assert theirs.execute(COUNTS).fetchone() == (10, 10)
            assert theirs.execute(ENDS).fetchall() == [("sample_before_end", True), ("sample_other_start", True)]
            assert theirs.execute("SELECT count(*) FROM ONLY sample").fetchone() == (5,)
    assert before > 20
    assert moved == {0, 3, 5}
    postgres.drop(database)


def test_a_sample_that_is_refused_before_the_switch_is_delivered_after_it(postgres, tmp_path):
    async def record() -> None:
        writer = Writer(database, journal=tmp_path)
        assert await writer.opened() is None
        for at in (NOW, NOW + 9000 * DAY):
            writer.put(sample(started_at=at), None)
        await until(lambda: writer.status().state == "failed")
        ask_other("ALTER TABLE sample DROP CONSTRAINT refused")
        await until(lambda: writer.status().stored == 2)
        await writer.close(10)

    def ask_other(sql: str) -> None:
        with other(database) as theirs:
            theirs.execute(sql)

    database = postgres.store()
    ask_other(f"ALTER TABLE sample ADD CONSTRAINT refused CHECK (started_at < {NOW + DAY}) NOT VALID")
    asyncio.run(record())
    assert [at for _, at in ask(database, WHERE)] == [NOW, NOW + 9000 * DAY]
    postgres.drop(database)


def test_views_of_others_follow_the_samples_and_those_that_cannot_are_named(postgres, caplog):
    database = postgres.store("0017")
    now = time.time_ns() // 1_000_000
    with other(database) as theirs:
        theirs.execute("CREATE VIEW slow WITH (security_barrier) AS SELECT * FROM sample WHERE e2e_ms > 9000")
        theirs.execute("CREATE VIEW slower AS SELECT id, started_at FROM slow")
        theirs.execute("GRANT SELECT ON slower TO pg_monitor")
        theirs.execute("CREATE MATERIALIZED VIEW days AS SELECT started_at / 86400000 AS day FROM sample")
    open_store(database).close()
    with other(database) as theirs:
        theirs.execute(ENDPOINT)
        theirs.execute(
            "INSERT INTO sample (endpoint_id, started_at, outcome, e2e_ms) VALUES (1, %s, 'ok', 9001)",
            [now + 999 * DAY],
        )
    assert ask(database, "SELECT id FROM slower") == [(1,)]
    assert ask(database, "SELECT reloptions FROM pg_class WHERE relname = 'slow'") == [(["security_barrier=true"],)]
    assert ask(database, "SELECT has_table_privilege('pg_monitor', 'slower', 'SELECT')") == [(True,)]
    assert [one.message.rpartition(": ")[2] for one in caplog.records if "anew" in one.message] == ["days"]
    postgres.drop(database)


def test_a_month_of_which_much_is_elsewhere_is_not_made(database, monkeypatch):
    monkeypatch.setattr(months, "MOVED_AT_ONCE", 2)
    fill(database, [sample(started_at=NOW + one) for one in (0, 1, 2, 31 * DAY, 31 * DAY + 1)])
    upkeep(database)
    assert [where for where, _ in ask(database, WHERE)] == [*["sample_other"] * 3, *["sample_2030_04"] * 2]


def test_the_key_holds_the_time_and_each_partition_has_the_indexes(database):
    fill(database, [sample(started_at=NOW)])
    upkeep(database)
    key = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'sample'::regclass AND contype = 'p'"
    assert ask(database, key) == [("PRIMARY KEY (id, started_at)",)]
    assert {one[0] for one in ask(database, INDEXES)} == {4}


def test_a_span_of_time_is_looked_for_in_its_months_alone(database):
    fill(database, [sample(started_at=at) for at in (NOW - 400 * DAY, NOW, NOW + 30 * DAY)])
    upkeep(database, kept=Retention())
    asked = []
    with StoreReader(database) as reader:
        few, rows = reader._source.few, reader._source.rows
        reader._source.few = lambda sql, values: asked.append((sql, values)) or few(sql, values)
        reader._source.rows = lambda sql, values: asked.append((sql, values)) or rows(sql, values)
        list(reader.points(NOW - DAY, NOW + DAY))
        reader.count(NOW - DAY, NOW + DAY)
    of_samples = [one for one in asked if re.search(r"\bsample\b", one[0])]
    assert len(of_samples) == 2
    with psycopg.connect(database) as connection:
        for sql, values in of_samples:
            cursor = psycopg.RawCursor(connection)
            plan = cursor.execute(b"EXPLAIN " + numbered(sql), values)
            text = "\n".join(line for (line,) in plan)
            assert "sample_2030_03" in text
            assert not re.search(r"sample_(2030_04|other|before)", text)


def test_a_store_of_an_older_version_has_no_partitions_to_make(postgres):
    database = postgres.store("0017")
    engine = open_store(database)
    with engine.begin() as connection:
        assert partitions(connection)[0].since is None
        make_months(connection, NOW)
        assert [one.until - one.since > 27 * DAY for one in partitions(connection)[-3:]] == [True] * 3
    engine.close()
    postgres.drop(database)
