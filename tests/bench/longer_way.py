"""Whether the round trip of a kept connection follows a way that becomes longer and shorter; late ACKs left out.

    python -m tests.bench.longer_way

Needs root and /dev/net/tun. In a network namespace of its own every packet goes out through a tun device and comes
back after a delay, with sender and receiver changed about, so that the server seems to be far away. The real prober
asks it once and again over one connection; beside what it tells stands the time from the request to its ACK.
"""

import argparse
import asyncio
import contextlib
import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from probes.endpoint import Endpoint, Quirks
from probes.measure.probe import Prober
from probes.sockets import event_loop
from probes.transport.factory import transport_to
from probes.wire import load_dialect

NEW_NETWORK: Final = 0x40000000
"""``CLONE_NEWNET`` of unshare(2)."""

TUNSETIFF: Final = 0x400454CA
TUN_WITHOUT_HEADER: Final = 0x1001
HERE: Final = "10.99.0.1"
THERE: Final = "10.99.0.2"

BODY: Final = b'data: {"choices": [{"index": 0, "delta": {"content": "word "}}]}\n\n' * 5 + b"data: [DONE]\n\n"
HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(BODY)

ONE_WAY_MS: Final = (10, 10, 25, 25, 5, 5, 45, 45, 45, 10)
"""The way during each probe. From 5 to 45 ms the ACK is late by as much as one that is held back."""


class Wire:
    """Gives every packet back after ``delay_ms``; when data to ``port`` came, and when its ACK was given back."""

    def __init__(self, delay_ms: float) -> None:
        self.delay_ms = delay_ms
        self.port = 0
        self.requested = 0.0
        self.end = 0
        self.acknowledged = 0.0
        self.with_answer = False
        self._fd = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self._fd, TUNSETIFF, struct.pack("16sH", b"tun0", TUN_WITHOUT_HEADER))
        for words in ("link set lo up", f"addr add {HERE}/24 dev tun0", "link set tun0 up"):
            subprocess.run(["ip", *words.split()], check=True)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        waiting: list[tuple[float, int, bytes]] = []
        for number in range(1 << 40):
            while waiting and waiting[0][0] <= time.monotonic():
                packet = heapq.heappop(waiting)[2]
                self._look(packet)
                os.write(self._fd, packet)
            pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
            if select.select([self._fd], [], [], pause)[0]:
                sent = bytearray(os.read(self._fd, 1 << 16))
                if sent[0] >> 4 == 4:  # IPv4; the checksums stay right
                    self._look(bytes(sent))
                    sent[12:16], sent[16:20] = sent[16:20], sent[12:16]
                    heapq.heappush(waiting, (time.monotonic() + self.delay_ms / 1000, number, bytes(sent)))

    def _look(self, packet: bytes) -> None:
        source, target, seq, ack, offset = struct.unpack_from(">HHIIB", packet, 20)
        data = len(packet) - 20 - (offset >> 4) * 4
        goes_out = packet[12:16] == bytes(map(int, HERE.split("."))) and target == self.port
        comes_back = packet[12:16] == bytes(map(int, THERE.split("."))) and source == self.port
        if goes_out and data:
            self.requested, self.end, self.acknowledged = time.monotonic(), seq + data, 0.0
        elif comes_back and not self.acknowledged and ack >= self.end:
            self.acknowledged, self.with_answer = time.monotonic(), bool(data)


@contextmanager
def serving(ttft_s: float) -> Iterator[int]:
    """A server in a thread of its own that answers every request after a while: its port."""
    port: list[int] = []
    there, ended = threading.Event(), threading.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(one for one in head.lower().split(b"\r\n") if one.startswith(b"content-length:"))
                await reader.readexactly(int(length[15:]))
                await asyncio.sleep(ttft_s)
                writer.write(HEAD + BODY)
        writer.close()

    async def serve() -> None:
        async with await asyncio.start_server(answer, HERE, 0) as server:
            port.append(server.sockets[0].getsockname()[1])
            there.set()
            await asyncio.to_thread(ended.wait)

    threading.Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
    there.wait()
    yield port[0]
    ended.set()


async def probe(wire: Wire, port: int) -> None:
    """Probe over one connection while the way changes, and print what each probe told."""
    wire.port = port
    url = f"http://{THERE}:{port}/v1"
    endpoint = Endpoint(
        name="far", provider="far", model="far", dialect="openai_chat", base_url=url, quirks=Quirks(),
        connection="warm", interval=60, prompt="Count.", max_output_tokens=10,
    )  # fmt: skip
    prober = Prober(endpoint, load_dialect(endpoint.dialect), transport_to(url, None))
    for one_way_ms in ONE_WAY_MS:
        wire.delay_ms = one_way_ms
        await asyncio.sleep(1.2)  # a rest, as between any two probes
        sample = (await prober.probe(None)).sample
        took = (wire.acknowledged - wire.requested) * 1000
        how = "with the answer" if wire.with_answer else "by itself"
        print(
            f"  way and back {2 * one_way_ms:>3} ms   request to its ACK {took:7.3f} ms, {how:<16}"
            f"told {sample.round_trip_ms} ms{'' if sample.connect_ms is None else f', connect {sample.connect_ms} ms'}"
        )
    prober.close()


def main() -> None:
    """Probe a server that takes its time, and one that answers within 40 ms."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK):
        raise SystemExit(f"no network namespace: {os.strerror(ctypes.get_errno())}")
    wire = Wire(ONE_WAY_MS[0])
    for ttft_s in (0.15, 0.015):
        print(f"a server that answers after {ttft_s * 1000:.0f} ms")
        with serving(ttft_s) as port:
            event_loop.run(probe(wire, port))


if __name__ == "__main__":
    main()
