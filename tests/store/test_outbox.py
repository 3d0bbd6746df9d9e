"""A database that goes away: samples wait on disk, survive their process, and arrive once."""

import asyncio
import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from probes.store.journal import BATCH, Journal
from probes.store.outbox import Kept, Outbox
from probes.store.place import journal_folder
from probes.store.problem import StoreProblem
from probes.store.sink import Entry, Sink
from probes.store.writer import Writer
from tests.samples import sample
from tests.store.proxy import Proxy
from tests.store.stores import ask, until

PUT = """
import asyncio, sys
from probes.store.writer import Writer
from tests.samples import sample

async def put(url, first, last):
    writer = Writer(url)
    while writer.status().state == "opening":
        await asyncio.sleep(0.01)
    for at in range(first, last):
        writer.put(sample(started_at=at), f"answer {at}")
    while writer._waiting or writer._writing:
        await asyncio.sleep(0.01)
    print(writer.status().state, writer.status().waiting, flush=True)
    await asyncio.Event().wait()

asyncio.run(put(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


@pytest.fixture
async def proxy(postgres):
    async with Proxy(postgres.folder / ".s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
def through(proxy, database):
    """The database's URL as it is reached through the proxy."""
    return proxy.url(psycopg.conninfo.conninfo_to_dict(database)["dbname"])


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "journal")


def entries(*starts):
    return [Entry(sample(started_at=at), None) for at in starts]


def starts(store):
    return [at for (at,) in ask(store, "SELECT started_at FROM sample ORDER BY id")]


async def test_samples_of_an_outage_arrive_once_and_in_order(database, proxy, through):
    writer = Writer(through)
    writer.put(sample(started_at=1), "one")
    await until(lambda: writer.status().stored == 1)
    await proxy.cut()
    for at in (2, 3, 4):
        writer.put(sample(started_at=at), f"answer {at}")
        await until(lambda: not writer._waiting and not writer._writing)
    status = writer.status()
    assert (status.state, status.waiting, status.dropped) == ("failed", 3, 0)
    assert "secret" not in status.detail
    await proxy.mend()
    await until(lambda: not writer.status().waiting)
    writer.put(sample(started_at=5), None)
    await writer.close(10)
    assert writer.status().stored == 5
    assert starts(database) == [1, 2, 3, 4, 5]
    assert ask(database, "SELECT text FROM answer") == [("answer 4",)]
    assert ask(database, "SELECT * FROM arrival") == []


async def test_samples_survive_the_process_that_took_them(database, proxy, through):
    await proxy.cut()
    for first in (0, 10):
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PUT, through, str(first), str(first + 10), stdout=subprocess.PIPE
        )
        assert (await child.stdout.readline()).split() == [b"failed", str(first + 10).encode()]
        child.send_signal(signal.SIGKILL)
        await child.wait()
    await proxy.mend()
    writer = Writer(through)
    writer.put(sample(started_at=20), None)
    await until(lambda: writer.status().state == "ok" and not writer.status().waiting)
    await writer.close(10)
    assert starts(database) == list(range(21))
    assert not list(journal_folder(through, "local").glob("*.jsonl"))


async def test_a_writer_that_is_closed_in_an_outage_leaves_everything_on_disk(proxy, through):
    await proxy.cut()
    writer = Writer(through)
    for at in range(3):
        writer.put(sample(started_at=at), None)
    await writer.close(10)
    assert Journal(journal_folder(through, "local")).waiting == 3
    assert Journal(journal_folder(through, "elsewhere")).waiting == 0


def test_a_batch_that_was_stored_as_the_connection_broke_is_not_stored_again(database, journal, monkeypatch):
    sink = Sink(database)
    outbox = Outbox(sink, journal)
    write = sink.write

    def stored_but_not_told(*words):
        write(*words)
        raise StoreProblem("failed", "the connection is lost")

    monkeypatch.setattr(sink, "write", stored_but_not_told)
    with pytest.raises(Kept, match="is lost"):
        outbox.write(entries(1, 2), None)
    assert outbox.waiting == 2
    monkeypatch.undo()
    outbox.write(entries(3), None)
    assert outbox.write([], None) == 3
    outbox.close()
    assert outbox.waiting == 0
    assert starts(database) == [1, 2, 3]


def test_a_disk_that_takes_nothing_leaves_the_samples_to_their_owner(tmp_path):
    (tmp_path / "journal").write_text("a file, not a folder")
    outbox = Outbox(Sink("postgresql://127.0.0.1:1/nowhere"), Journal(tmp_path / "journal" / "deeper"))
    with pytest.raises(StoreProblem) as caught:
        outbox.write(entries(1), None)
    assert not isinstance(caught.value, Kept)


@pytest.fixture
def short_of_room():
    """While it is called, this process writes no file that is longer."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def short_of_room(size):
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)

    return short_of_room


def test_what_was_half_written_on_a_full_disk_is_not_there_twice(journal, tmp_path, short_of_room):
    journal.keep(entries(1))
    (path,) = (tmp_path / "journal").iterdir()
    with short_of_room(5 * path.stat().st_size), pytest.raises(StoreProblem):
        journal.keep(entries(*range(2, 12)))
    assert journal.waiting == 1
    journal.keep(entries(*range(2, 12)))
    later = Journal(tmp_path / "journal")
    found = []
    while waiting := later.first():
        found += [one.sample.started_at for one in waiting[1]]
        later.done(waiting[0])
    assert (found, later.dropped) == (list(range(1, 12)), 0)


def test_no_batch_that_failed_on_a_full_disk_is_used_after_a_later_one(journal, short_of_room):
    """The later one's mark would tell that it came before."""
    with short_of_room(10), pytest.raises(StoreProblem):
        journal.keep(entries(1))
    later = journal.new()
    journal.keep(entries(2))
    assert journal.first()[0].mark > later.mark


def test_what_waits_can_be_counted_while_another_thread_is_at_it(tmp_path):
    journal = Journal(tmp_path / "journal")
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def come_and_go():
        for at in range(200):
            journal.keep(entries(at), journal.new())
        while waiting := journal.first():
            journal.done(waiting[0])

    try:
        with ThreadPoolExecutor(1) as pool:
            busy = pool.submit(come_and_go)
            counts = []
            while not busy.done():
                counts.append(journal.waiting)
            busy.result()
    finally:
        sys.setswitchinterval(usual)
    assert max(counts) <= 200
    assert journal.waiting == 0


def test_what_is_kept_is_read_back_in_order_by_the_next_process(journal, tmp_path):
    kept = [Entry(sample(started_at=at, ttft_ms=at / 8, served_model="二"), f"answer {at}") for at in range(3)]
    journal.keep(kept[:2])
    journal.keep(kept[2:])
    later = Journal(tmp_path / "journal")
    assert later.waiting == 3
    batch, read = later.first()
    assert read == kept
    later.done(batch)
    assert (later.waiting, later.first()) == (0, None)
    assert list((tmp_path / "journal").iterdir()) == []


def test_nothing_is_added_to_a_batch_that_is_on_its_way(journal):
    journal.keep(entries(1))
    batch, _ = journal.first()
    journal.keep(entries(2))
    assert [one.sample.started_at for one in journal.first()[1]] == [1]
    journal.done(batch)
    assert [one.sample.started_at for one in journal.first()[1]] == [2]


def test_batches_are_bounded_and_the_oldest_are_dropped_and_counted(tmp_path):
    journal = Journal(tmp_path, capacity=2 * BATCH)
    for first in range(0, 3 * BATCH, BATCH):
        journal.keep(entries(*range(first, first + BATCH)))
    assert (journal.waiting, journal.dropped) == (2 * BATCH, BATCH)
    assert journal.first()[1][0].sample.started_at == BATCH
    assert len(list(tmp_path.iterdir())) == 2


def test_a_torn_line_is_dropped_and_counted(journal, tmp_path):
    journal.keep(entries(1, 2))
    (path,) = (tmp_path / "journal").iterdir()
    path.write_bytes(path.read_bytes()[:-20] + b"\n")
    later = Journal(tmp_path / "journal")
    assert [one.sample.started_at for one in later.first()[1]] == [1]
    assert (later.waiting, later.dropped) == (1, 1)


def test_the_journal_is_for_its_owner_alone(journal, tmp_path):
    journal.keep(entries(1))
    folder = tmp_path / "journal"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o600}
    (path,) = folder.iterdir()
    assert json.loads(path.read_text())["sample"]["endpoint"] == "sim/model"
