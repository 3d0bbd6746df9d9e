"""Frames over a real pipe: few whatever the rate, and a screen that does not read delays nobody."""

import asyncio
import os
from io import RawIOBase

import pytest

from probes.feed.messages import Command, EngineStatus, Frame, Hello, MonitorStatus, decode, encode
from probes.feed.pipe import FeedWriter, read_commands
from probes.store.status import StoreStatus
from tests.samples import sample

STATUS = EngineStatus(StoreStatus("ok", stored=3))
HELLO = Hello("0.1.0", 1, "sqlite:///x", False, ())


def messages(fd: int) -> list[Hello | Frame | Command]:
    """Everything in a pipe, to its end."""
    with os.fdopen(fd, "rb") as pipe:
        return [decode(line) for line in pipe]


def writing_end(fd: int) -> RawIOBase:
    return os.fdopen(fd, "wb", buffering=0)


async def test_hello_comes_first_and_the_last_frame_has_what_was_left():
    reading, writing = os.pipe()
    out = writing_end(writing)
    feed = FeedWriter(out, lambda: STATUS)
    feed.write_hello(HELLO)
    feed.add_sample(sample(), "Once upon a time")
    feed.add_status(MonitorStatus("sim/model", next_due=5))
    feed.close()
    out.close()
    hello, *frames = messages(reading)
    assert hello == HELLO
    assert [one for frame in frames for one in frame.samples] == [sample()]
    assert frames[-1].answers == {"sim/model": "Once upon a time"}
    assert frames[-1].watches == (MonitorStatus("sim/model", next_due=5),)
    assert frames[-1].engine == STATUS


async def test_a_burst_is_one_frame_and_the_newest_status_wins():
    reading, writing = os.pipe()
    out = writing_end(writing)
    feed = FeedWriter(out, lambda: STATUS)
    read = asyncio.get_running_loop().run_in_executor(None, messages, reading)  # it is more than a pipe holds
    for number in range(200):
        feed.add_sample(sample(started_at=number), "")
        feed.add_status(MonitorStatus("sim/model", next_due=number))
    feed.close()
    out.close()
    [frame] = await read
    assert [one.started_at for one in frame.samples] == list(range(200))
    assert frame.watches == (MonitorStatus("sim/model", next_due=199),)
    assert frame.answers is None


async def test_a_screen_that_does_not_read_costs_samples_and_no_time(monkeypatch):
    monkeypatch.setattr("probes.feed.pipe.UNTAKEN_LIMIT", 50)
    reading, writing = os.pipe()
    out = writing_end(writing)
    feed = FeedWriter(out, lambda: STATUS)
    feed.write_hello(Hello("x" * 1_000_000, 1, "", False, ()))  # more than a pipe holds: the thread waits in its write
    for number in range(500):
        feed.add_sample(sample(started_at=number), "")
        await asyncio.sleep(0)
    assert [one.started_at for one in feed._samples][-1] == 499
    assert len(feed._samples) <= 50
    os.close(reading)  # the thread's write breaks, and it ends
    feed.close()
    out.close()


async def test_a_screen_that_has_gone_is_not_an_error():
    reading, writing = os.pipe()
    os.close(reading)
    with writing_end(writing) as out:
        feed = FeedWriter(out, lambda: STATUS)
        feed.write_hello(HELLO)
        feed.add_sample(sample(), "")
        feed.close()
    assert feed._broken


async def test_commands_come_in_order_and_the_end_of_the_pipe_is_told():
    reading, writing = os.pipe()
    got: list[Command] = []
    gone = asyncio.Event()
    source = os.fdopen(reading, "rb", buffering=0)
    read_commands(source, got.append, gone.set)
    wishes = [Command("pause"), Command("probe", "sim/model"), Command("resume")]
    os.write(writing, encode(wishes[0]) + b"not json\n" + b'{"type":"unheard-of"}\n' + encode(HELLO))
    os.write(writing, encode(wishes[1]) + encode(wishes[2]))
    os.close(writing)
    await gone.wait()
    source.close()
    assert got == wishes


@pytest.mark.parametrize(
    "message", [HELLO, Command("probe", "a"), Frame(5, STATUS, (), (sample(ttft_ms=1.5),), {"a": "é\n"})]
)
def test_what_is_encoded_is_one_line_and_decodes_to_itself(message):
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decode(line) == message


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"{}", b"null", b'{"type":"frame"}', b'{"type":5}', b"[" * 100_000])
def test_what_is_no_message_is_a_value_error(line):
    with pytest.raises(ValueError):  # noqa: PT011  # that it is one is the contract
        decode(line)
