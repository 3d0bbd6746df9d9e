"""The schema on PostgreSQL: what the migrations make is what the tables say, from every version on."""

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from probes.sample import COLUMNS, iso
from probes.stats.tiers import TIERS
from probes.store.read.reader import StoreReader
from probes.store.schema import REVISIONS
from probes.store.tables import ENDPOINT
from probes.store.write import postgres_database
from probes.store.write.database import open_store
from probes.store.write.migrate import bring_up_to_date
from tests.samples import sample
from tests.store.stores import ask, fill, other

OLD = sample(started_at=10, ttft_ms=1.5, tokens_per_s=80.0, prompt_version="0badcafe", connection="warm")
SCHEMA = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """What the process of its own does, which takes half a second to begin."""
    monkeypatch.setattr(postgres_database, "upgrade", bring_up_to_date)


@pytest.fixture(params=REVISIONS[:-1])
def old(postgres, request):
    """A store of an older version that holds `OLD`."""
    database = postgres.store(request.param)
    with other(database) as theirs:
        theirs.execute(
            "INSERT INTO endpoint (vantage, name, provider, dialect, model)"
            " VALUES ('local', 'sim/model', 'sim', 'openai_chat', 'model')"
        )
        theirs.execute(
            "INSERT INTO sample (endpoint_id, started_at, outcome, ttft_ms, tokens_per_s, prompt_version, connection)"
            " VALUES (1, 10, 'ok', 1.5, 80.0, '0badcafe', 'warm')"
        )
    yield database
    postgres.drop(database)


def test_it_is_read_without_being_touched(old):
    before = ask(old, SCHEMA)
    with StoreReader(old) as reader:
        assert list(reader.samples()) == [reader.sample(1)] == [*reader.latest().values()] == [OLD]
        (point,) = reader.points(0)
        assert (point.ttft_ms, point.server_load_ms, point.tokens_per_s) == (1.5, None, 80.0)
    assert ask(old, SCHEMA) == before


def test_a_reader_that_was_there_before_the_upgrade_sees_what_comes_after_it(old):
    with StoreReader(old) as reader:
        assert reader.count() == 1
        new = sample(started_at=20, server_load_ms=2.5)
        fill(old, [new])
        assert list(reader.samples()) == [OLD, new]
        assert [point.server_load_ms for point in reader.points(0)] == [None, 2.5]


def test_the_upgrade_loses_nothing(old):
    open_store(old).close()
    assert ask(old, "SELECT version_num FROM alembic_version") == [(REVISIONS[-1],)]
    with StoreReader(old) as reader:
        assert list(reader.samples()) == [OLD]


def is_no_partition(name, kind, _):
    return kind != "table" or not name.startswith("sample_")


def test_the_tables_are_what_the_migrations_make(bare):
    open_store(bare).close()
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(bare))
    with engine.connect() as connection:
        opts = {"compare_type": True, "include_name": is_no_partition}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, ENDPOINT.metadata) == []
    engine.dispose()


def test_the_view_has_the_columns_of_an_export_in_order(database):
    fill(database, [sample()])
    columns = ask(
        database,
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'samples' ORDER BY ordinal_position",
    )
    assert [name for (name,) in columns] == list(COLUMNS)


def test_the_views_write_times_as_a_sample_does(database):
    instants = [0, 1, 999, 1_000, 1_763_647_351_005, 1_800_000_000_999, 4_102_444_799_999]
    fill(database, [sample(started_at=ms) for ms in instants])
    assert ask(database, "SELECT started_at FROM samples ORDER BY 1") == [(iso(ms),) for ms in instants]
    for tier in TIERS[:3]:
        ((last,),) = ask(database, f"SELECT max(start) FROM samples_by_{tier}")
        assert (
            last
            == {"minute": "2099-12-31T23:59:00Z", "hour": "2099-12-31T23:00:00Z", "day": "2099-12-31T00:00:00Z"}[tier]
        )


def test_who_records_is_known_after_the_upgrade_and_who_may_see_it_still_may(postgres):
    database = postgres.store("0016")
    with other(database) as theirs:
        theirs.execute("INSERT INTO recorder VALUES ('fra', 7, 'host', '0.1.0', 1, 2, '{}')")
        theirs.execute("GRANT SELECT ON recorder TO pg_monitor")
    open_store(database).close()
    assert ask(database, "SELECT * FROM recorder") == [("fra", 7, "host", "0.1.0", 1, 2, "{}", "")]
    assert ask(database, "SELECT has_table_privilege('pg_monitor', 'recorder', 'SELECT')") == [(True,)]
    postgres.drop(database)
