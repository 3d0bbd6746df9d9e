"""The questions a store answers, and the stores that cannot."""

import asyncio

import pytest

from probes.budget.charge import CostFacts
from probes.outcome import Outcome
from probes.store.problem import StoreProblem
from probes.store.read.reader import CostGroup, PanelPoint, ServedRow, StoreReader
from probes.store.read.source import FETCH
from probes.store.write.writer import Writer
from tests.samples import sample
from tests.store.stores import ask, fill, other


@pytest.fixture
def reader(store):
    with StoreReader(store) as reader:
        yield reader


def everything(reader: StoreReader) -> list:
    """The answer to every question there is."""
    return [
        *reader.points(0),
        *reader.samples(),
        *reader.latest(),
        *reader.last(5),
        *reader.served(0),
        *reader.last_failures(5),
        *reader.after(0, 5),
        *reader.answers(),
        *reader.endpoints(),
        *([reader.recorder()] if reader.recorder() else []),
        *([reader.last_id()] if reader.last_id() else []),
        *([reader.count()] if reader.count() else []),
        *reader.bills(0, "local"),
    ]


def test_a_store_that_is_not_there_is_empty(reader):
    assert everything(reader) == []


def test_a_store_that_has_no_tables_yet_is_empty(reader, store):
    fill(store, [])
    with other(store) as connection:
        connection.execute("DROP TABLE alembic_version")
    assert everything(reader) == []


def test_a_store_is_found_as_soon_as_it_is_there(reader, store):
    assert reader.count() == 0
    fill(store, [sample()])
    assert reader.count() == 1


def test_a_newer_store_is_not_read(reader, store):
    fill(store, [sample()])
    with other(store) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreProblem) as caught:
        list(reader.points(0))
    assert caught.value.state == "newer"


def test_a_sample_comes_back_as_it_was_stored(reader, store):
    stored = [
        sample(started_at=1, outcome=Outcome.TIMEOUT, outcome_detail="first token", due_lag_ms=0.25),
        sample(started_at=2, connection="warm", ttft_ms=12.5, output_tokens=256, expect_ok=True, clock="user"),
        sample(started_at=3, expect_ok=False, cost_usd=0.000123, served_model="m", requests_limit=60.0),
    ]
    fill(store, stored)
    assert list(reader.samples()) == stored
    assert [reader.sample(key) for key, _ in reader.after(0, 9)] == stored
    with pytest.raises(KeyError):
        reader.sample(99)


def test_points_are_what_the_panels_draw_oldest_first(reader, store):
    more = {"requests_limit": 60.0, "requests_remaining": 59.0, "requests_reset_s": 1.5}
    more |= {"server_load_ms": 4.5, "tokens_limit": 6e4, "tokens_remaining": 5e4, "tokens_reset_s": 2.5}
    more |= {"output_chars": 560, "e2e_ms": 700.0, "cost_usd": 0.0001, "trusted": False}
    more |= {"dns_ms": 1.0, "connect_ms": 8.0, "proxy_ms": 2.0, "tls_ms": 16.0, "upgrade_ms": 0.5}
    fill(store, [
        sample(started_at=20, endpoint="b", outcome=Outcome.RATE_LIMITED),
        sample(started_at=10, endpoint="a", connection="cold", ttft_ms=12.5, tokens_per_s=80.0, **more),
    ])  # fmt: skip
    assert list(reader.points(0)) == [
        PanelPoint(
            *("a", 10, Outcome.OK, "cold", 12.5, 4.5, 80.0, 60.0, 59.0, 1.5, 6e4, 5e4, 2.5, 560, 700.0, 0.0001, False),
            *(None, 1.0, 8.0, 2.0, 16.0, 0.5),
        ),
        PanelPoint("b", 20, Outcome.RATE_LIMITED, *[None] * 20),
    ]


def test_spans_hold_their_beginning_but_not_their_end(reader, store):
    fill(store, [sample(started_at=at) for at in (10, 20, 30)])
    assert [point.started_at for point in reader.points(20)] == [20, 30]
    assert [point.started_at for point in reader.points(10, 30)] == [10, 20]
    assert [one.started_at for one in reader.samples(20, 30)] == [20]
    assert reader.count(None, 30) == 2


def test_endpoints_can_be_chosen(reader, store):
    fill(store, [sample(started_at=at, endpoint=name) for at, name in enumerate("abcab")])
    assert [one.started_at for one in reader.samples(endpoints=["a", "c"])] == [0, 2, 3]
    assert reader.count(endpoints=["b"]) == 2
    assert reader.count(endpoints=["'; DROP TABLE sample; --"]) == 0


def test_many_points_come_in_order_and_whole(reader, store):
    fill(store, [sample(started_at=at) for at in range(2 * FETCH + 1)])
    assert [point.started_at for point in reader.points(0)] == list(range(2 * FETCH + 1))


def test_an_iterator_shows_one_moment_while_the_store_goes_on(reader, store):
    fill(store, [sample(started_at=at) for at in range(FETCH + 1)])
    points = reader.points(0)
    next(points)
    fill(store, [sample(started_at=FETCH + 1, endpoint="new")])
    assert sum(1 for _ in points) == FETCH
    assert reader.count() == FETCH + 2


def test_the_latest_sample_of_each_endpoint_by_time_not_by_storing(reader, store):
    fill(store, [sample(started_at=at, endpoint=name) for at, name in [(5, "a"), (3, "a"), (4, "b")]])
    assert {name: one.started_at for name, one in reader.latest().items()} == {"a": 5, "b": 4}


def test_an_endpoint_whose_model_was_changed_has_one_latest_sample(reader, store):
    fill(store, [sample(started_at=1, model="old"), sample(started_at=2, model="new")])
    assert [one.model for one in reader.latest().values()] == ["new"]


def test_the_last_samples_of_each_endpoint_come_oldest_first(reader, store):
    fill(store, [sample(started_at=at, endpoint=name) for name in "ab" for at in (3, 1, 2)])
    fill(store, [sample(started_at=9, endpoint="c")])
    assert [(one.started_at, one.endpoint) for one in reader.last(2)] == [
        (2, "a"), (2, "b"), (3, "a"), (3, "b"), (9, "c"),
    ]  # fmt: skip


def test_who_served_is_told_where_a_response_said_it(reader, store):
    said = sample(started_at=3, endpoint="b", served_model="m", served_tier="t", served_by="p", served_fingerprint="f")
    fill(
        store, [said, sample(started_at=2), sample(started_at=1, served_tier="t"), sample(started_at=0, served_by="p")]
    )
    assert list(reader.served(1)) == [
        ServedRow("sim/model", 1, None, "t", None, None),
        ServedRow("b", 3, "m", "t", "p", "f"),
    ]


def test_the_last_failures_are_what_was_sent_and_did_not_end_ok(reader, store):
    fill(store, [sample(started_at=at, outcome=one) for at, one in enumerate(Outcome)])
    fill(store, [sample(started_at=99, endpoint="other", outcome=Outcome.CUT)])
    found = [one.outcome for one in reader.last_failures(100)]
    assert found == [*(one for one in Outcome if one not in ("ok", "own_fault", "no_key", "skipped")), Outcome.CUT]
    assert [one.started_at for one in reader.last_failures(2)] == [16, 17, 99]


def test_answers_are_the_last_of_each_endpoint(reader, store):
    fill(store, [(sample(endpoint="a"), "one"), (sample(endpoint="b"), "two"), (sample(endpoint="a"), "three")])
    fill(store, [sample(endpoint="a"), (sample(endpoint="b"), "\x1b[31mfour\n")])
    assert reader.answers() == {"a": "three", "b": "four\n"}
    assert ask(store, "SELECT sample_id FROM answer ORDER BY endpoint_id") == [(3,), (5,)]


def test_a_recorder_can_be_followed(reader, store):
    fill(store, [sample(started_at=at) for at in (10, 20)])
    last = reader.last_id()
    fill(store, [sample(started_at=5, endpoint="new"), sample(started_at=30)])
    assert [(key, one.started_at) for key, one in reader.after(last, 10)] == [(3, 5), (4, 30)]
    assert [key for key, _ in reader.after(0, 3)] == [1, 2, 3]


def test_what_samples_tell_of_their_cost_is_added_up_where_they_tell_the_same(reader, store):
    same = {"http_status": 200, "reopened": False, "token_source": "usage", "input_tokens": 10, "output_tokens": 20}
    fill(store, [
        sample(started_at=5, cost_usd=100.0, **same),
        sample(started_at=10, cost_usd=0.25, **same),
        sample(started_at=20, cost_usd=0.75, **same),
        sample(started_at=30, **same),
        sample(started_at=30, outcome=Outcome.TIMEOUT, reopened=True),
        sample(started_at=30, endpoint="other", outcome=Outcome.SKIPPED),
        sample(started_at=30, vantage="fra", cost_usd=1.0),
    ])  # fmt: skip
    known = CostFacts(Outcome.OK, 200, False, "usage", 10, 20)
    assert sorted(reader.bills(10, "local"), key=str) == sorted(
        [
            CostGroup("sim/model", 2, known._replace(cost_usd=0.5)),
            CostGroup("sim/model", 1, known),
            CostGroup("sim/model", 1, CostFacts(Outcome.TIMEOUT, reopened=True)),
            CostGroup("other", 1, CostFacts(Outcome.SKIPPED)),
        ],
        key=str,
    )
    assert reader.bills(10, "fra") == [CostGroup("sim/model", 1, CostFacts(Outcome.OK, cost_usd=1.0))]
    assert reader.bills(40, "local") == []


async def test_the_recorder_shows_itself(reader, store):
    writer = Writer(store, vantage="fra")
    writer.beat('{"state": "old"}')
    writer.beat('{"state": "new"}')
    await writer.close(10)
    found = reader.recorder()
    assert (found.vantage, found.status) == ("fra", '{"state": "new"}')
    assert found.beat_at >= found.started_at > 0


async def test_a_reader_serves_any_thread(reader, store):
    fill(store, [sample()])
    assert reader.count() == 1
    assert await asyncio.to_thread(reader.count) == 1
    assert len(await asyncio.to_thread(lambda: list(reader.samples()))) == 1
